// A task is made: each of its accesses joins the last group of its range, or begins one after it.
#include <teff/error.hpp>

#include "flow/accesses.hpp"
#include "flow/flow_core.hpp"
#include "flow/flow_memo.hpp"
#include "flow/flow_recording.hpp"
#include "flow/flow_watch.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

namespace teff::detail {

// ---- Ranges and groups ----

// The table forgets a group, by its leader or another member, if there is one.
void flow_core::forget(flow_member*& group, const flow_creator& by) noexcept {
  if (auto* const member = std::exchange(group, nullptr)) drop_reference(*member->task, by.pool);
}

// No further member joins the last group of the range.
void flow_core::close(flow_range& range, const flow_creator& by) noexcept {
  range.open = false;
  for (auto** const each : {&range.newest, &range.bounds[0], &range.bounds[1]}) forget(*each, by);
  if (!range.last->members.close(range.joined)) return;
  static_cast<void>(range.last->waiting.release());  // empty: only this thread adds to it
  drop_reference(*range.last->task, by.pool);
}

// The table forgets the range's groups.
void flow_core::forget(flow_range& range, const flow_creator& by) noexcept {
  if (range.open) close(range, by);
  for (auto** const each : {&range.last, &range.before}) forget(*each, by);
}

// A task while it is made.
struct flow_core::addition {
  flow_core& core;
  const flow_creator& by;
  flow_task& task;
  flow_domain& domain;
  std::span<const access> accesses;
  std::uint32_t pushed = 0;      // members on lists of groups that the task waits for
  std::uint32_t references = 1;  // as in the task

  // A member that lies in the task while there is room, or beside it. Throws std::bad_alloc.
  flow_member& new_member() {
    if (task.count < task.room)
      return *::new (&task.members()[task.count++]) flow_member;  // not all of it zeroed
    return extra(task);
  }
  static flow_member& extra(flow_task& of) {
    auto* const made = new flow_member;
    made->task = &of;
    made->leader = made;
    made->more = std::exchange(of.more, made);
    of.has_more = true;
    return *made;
  }

  // Each access, after those before it.
  void add_all() {
    constexpr std::size_t few = 8;
    bool plain = accesses.size() <= few;
    std::array<flow_box, few> boxes;
    for (std::size_t i = 0; plain && i < accesses.size(); ++i) {
      boxes[i] = box_of(accesses[i]);
      for (std::size_t j = 0; plain && j < i; ++j) plain = !may_overlap(boxes[i], boxes[j]);
    }
    if (!plain) return add_overlapping();
    for (std::size_t i = 0; i < accesses.size(); ++i) {
      if (accesses[i].bytes == 0) continue;
      if (flow_range* const found = domain.exact(boxes[i])) [[likely]] {
        add(*found, accesses[i], true);
      } else {
        const auto parts = cover(boxes[i]);
        for (auto* const part : parts) add(*part, accesses[i], parts.size() == 1);
      }
    }
  }

  // Accesses that touch the same memory: the strongest counts there, so no task waits for itself.
  void add_overlapping() {
    struct piece {
      flow_range* range;
      const access* of;
      bool whole;
    };
    std::vector<piece> pieces;
    std::vector<flow_range*> parts;
    for (const auto& each : accesses)
      if (each.bytes != 0 && domain.exact(box_of(each)) == nullptr) static_cast<void>(cover(box_of(each)));
    for (const auto& each : accesses) {
      if (each.bytes == 0) continue;
      parts.clear();
      domain.collect(box_of(each), parts);
      for (auto* const part : parts) pieces.push_back({part, &each, parts.size() == 1});
    }
    std::ranges::sort(pieces, {},
                      [](const piece& each) { return std::pair(each.range->memory.begin, each.of); });
    // All are checked before one is added.
    for (std::size_t i = 1; i < pieces.size(); ++i)
      if (pieces[i].range == pieces[i - 1].range &&
          (pieces[i].of->mode == access_mode::reduction || pieces[i - 1].of->mode == access_mode::reduction))
        throw misuse(
            "teff::flow: a task touches memory that it also names in a reduction, whose value is there only "
            "when the reduction has ended: read it in a task that follows, by in()");
    for (std::size_t i = 0; i < pieces.size();) {
      const auto [range, first, whole] = pieces[i];
      if (++i == pieces.size() || pieces[i].range != range) {
        add(*range, *first, whole);
        continue;
      }
      access all = *first;
      for (; i < pieces.size() && pieces[i].range == range; ++i) {
        if (pieces[i].of->mode != all.mode) all.mode = access_mode::write;
        all.weak = all.weak && pieces[i].of->weak;
      }
      add(*range, all, whole);
    }
  }

  // The ranges of the domain that together are the box. If cutting fails halfway, the table is no longer
  // true, and the flow fails.
  std::span<flow_range* const> cover(const flow_box& box) {
    const auto split = [&](flow_range& one, flow_range& other) {
      if (one.open) {
        close(one, by);
        other.open = false;
        other.newest = other.bounds[0] = other.bounds[1] = nullptr;
      }
      for (auto* const each : {one.last, one.before})
        if (each != nullptr) each->task->references.fetch_add(1, std::memory_order_relaxed);
    };
    std::span<flow_range* const> parts;
    undo_if_thrown([&] { parts = domain.cover(box, split); }, [&] { core.fail(std::current_exception()); });
    return parts;
  }

  // The task's access to one range; `whole`: the access names no other.
  void add(flow_range& range, const access& what, bool whole) {
    // A task takes the turns of its commutative accesses when it begins, and keeps them to its end. Its end
    // must not wait for an earlier task then, which may need such a turn. So the task begins after those.
    const bool begins_late = what.weak || what.mode == access_mode::reduction;
    const bool begins_in_turn = begins_late && std::ranges::any_of(accesses, [](const access& each) {
                                  return each.mode == access_mode::commutative && !each.weak;
                                });
    flow_member& member = new_member();
    member.mode = what.mode;
    if (begins_late) task.has_more = true;
    if (what.mode == access_mode::reduction && (!whole || begins_in_turn)) {
      member.mode = access_mode::write;
    } else if (what.mode == access_mode::reduction) {
      const auto number = std::count_if(
          accesses.data(), &what, [](const access& each) { return each.mode == access_mode::reduction; });
      auto* const turn = task.body->reduction(task, static_cast<std::size_t>(number));
      turn->member = &member;
      member.part = turn;
    } else if (what.weak && !begins_in_turn) {
      member.mode = what.mode == access_mode::in ? access_mode::in : access_mode::write;
      member.part = new weak_part(range.memory);
      member.is_weak = true;
    }
    join(member, range, what);
  }

  // Each of so many tasks in a row, or of twice as many, may write its private copy before its turn.
  [[nodiscard]] std::uint32_t copies_ahead(const flow_range& range) const noexcept {
    constexpr std::uintptr_t bytes = 1 << 20;
    constexpr std::uintptr_t most = 512;
    const std::uintptr_t workers = core.workers();
    return static_cast<std::uint32_t>(
        std::clamp(bytes / range.memory.bytes, workers, std::max(most, workers)));
  }

  // The member joins the last group of the range, or begins one after it.
  void join(flow_member& member, flow_range& range, const access& what) {
    member.task = &task;
    member.member = &member;
    member.kind = waiter_kind::access;
    if (range.open && range.mode == member.mode && range.operation == what.operation) {
      member.leader = range.last;
      if (auto* const lock = range.last->lock()) member.part = lock;
      ++range.joined;
    } else {
      // The range was cut in two while readers had it. Its further readers wait for the same group as these.
      const bool goes_on = range.last != nullptr && !range.open && range.mode == member.mode &&
                           (member.mode == access_mode::in || member.mode == access_mode::concurrent);
      if (range.open) close(range, by);
      member.leads = true;
      member.leader = &member;
      if (member.mode == access_mode::commutative) member.part = new flow_member::group_lock;
      references += member.mode == access_mode::write ? 1 : 2;
      std::uint32_t links = 0;
      if (goes_on) {
        auto& link = extra(task);
        link.kind = waiter_kind::group;
        link.member = &member;
        link.is_link = true;
        if (range.last->waiting.add(link)) links = 1;
        forget(range.last, by);
      } else {
        forget(range.before, by);
        range.before = range.last;
      }
      range.last = &member;
      range.mode = member.mode;
      range.operation = what.operation;
      range.open = member.mode != access_mode::write;
      range.joined = 1 + links;
    }
    if (member.lock() != nullptr) task.has_locks = task.has_more = true;

    auto* const list = range.before != nullptr ? &range.before->waiting
                       : range.weak != nullptr ? &range.weak->gate
                                               : nullptr;
    bool waits = false;
    if (member.turn() != nullptr) {
      if (member.leads) {
        member.kind = waiter_kind::turns;
        waits = list != nullptr && list->add(member);
        if (!waits) static_cast<void>(member.turn()->reach());  // it has not run yet
      } else {
        if (range.newest->turn()->follow(*member.turn())) static_cast<void>(member.turn()->reach());
        forget(range.newest, by);
        if (range.bounds[0] != nullptr && range.bounds[0]->waiting.add(member)) ++pushed;
        if ((range.joined - 1) % copies_ahead(range) == 0) {
          member.bounds = true;
          forget(range.bounds[0], by);
          range.bounds[0] = std::exchange(range.bounds[1], &member);
          ++references;
        }
      }
      range.newest = &member;
      ++references;
    } else if (member.weak() != nullptr) {
      member.kind = waiter_kind::gate;
      waits = list != nullptr && list->add(member);
      member.weak()->parts = waits ? 1 : 0;
      if (!waits) static_cast<void>(member.weak()->gate.release());  // no task waits for it yet
    } else if (list != nullptr && list->add(member)) {
      waits = true;
      ++pushed;
    }
    if (!waits || member.mode == access_mode::write) forget(range.before, by);
  }
};

// ---- Domains ----

flow_domain& flow_core::domain_of(const flow_creator& by) {
  if (by.parent == nullptr) return domain_;
  if (by.parent->inner != nullptr) return *by.parent->inner;
  auto made = std::make_unique<flow_domain>();
  by.parent->each_member([&](flow_member& each) {
    if (each.weak() != nullptr) made->insert(each.weak()->memory).weak = each.weak();
  });
  return *(by.parent->inner = made.release());
}

// The body of `parent` has ended. Each of its weak accesses ends with the last groups on its range.
void flow_core::close_domain(flow_task& parent, const flow_creator& by) {
  const std::unique_ptr<flow_domain> domain(std::exchange(parent.inner, nullptr));
  domain->each([&](flow_range& range) {
    if (range.open) close(range, by);
    if (range.weak != nullptr && range.last != nullptr) {
      auto& waiter = addition::extra(parent);
      waiter.kind = waiter_kind::inner;
      waiter.is_link = true;
      parent.each_member([&](flow_member& each) {
        if (each.weak() == range.weak) waiter.member = &each;
      });
      if (range.last->waiting.add(waiter)) ++range.weak->parts;
    }
    forget(range, by);
  });
}

flow_task& flow_core::make_unrun(const flow_creator& by, flow_domain& domain,
                                 std::span<const access> accesses) {
  flow_task& task = allocate(by, accesses.size(), 0, 1);
  task.references.store(~std::uint32_t{0} / 2, std::memory_order_relaxed);  // no group drops the last one
  addition to{*this, by, task, domain, accesses};
  to.add_all();
  return task;
}

namespace {

// The body of a task that could not be made.
constexpr flow_body nothing{[](flow_task&) {}, [](flow_task&) noexcept {}, nullptr,
                            []() noexcept { return ""; }};

}  // namespace

void flow_core::stand_in(const flow_creator& by, repeated_task& task, std::vector<access> accesses) {
  for (auto& each : accesses)
    if (each.mode == access_mode::reduction) each.mode = access_mode::concurrent;
  flow_task& made = allocate(by, accesses.size(), sizeof(flow_member), alignof(flow_member));
  made.body = &nothing;
  made.stands_in = true;
  auto& waiter = *::new (made.closure) flow_member;
  waiter.kind = waiter_kind::end;
  waiter.member = &waiter;
  waiter.task = &made;
  addition to{*this, by, made, domain_, accesses};
  std::exception_ptr error;
  // The groups that it has joined must still end.
  catch_all([&] { to.add_all(); }, [&] { error = std::current_exception(); });
  made.references.store(to.references, std::memory_order_relaxed);
  if (task.waiting.add(waiter)) ++to.pushed;
  if (made.missing.close(to.pushed)) end_stand_in(by, made);
  if (error) std::rethrow_exception(std::move(error));
}

void flow_core::drop(const flow_creator& by, flow_task& task) {
  if (task.round == nullptr) return by.pool.give(&task, task.block);
  task.body = &nothing;
  submit(by, task, {});
}

void flow_core::submit(const flow_creator& by, flow_task& task, std::span<const access> accesses) {
  if (task.priority != 0) has_priorities_.store(true, std::memory_order_relaxed);
  if (task.block == flow_pool::in_memo) return submit_of_memo(by, task);
  flow_domain& domain = domain_of(by);
  addition to{*this, by, task, domain, accesses};
  std::exception_ptr error;
  catch_all(
      [&] {
        if (watch_ != nullptr) [[unlikely]]
          watch_->add(task, accesses);
        to.add_all();
      },
      [&] {
        // The groups that it has joined must still end.
        error = std::current_exception();
        task.body->destroy(task);
        task.body = &nothing;
      });
  task.references.store(to.references, std::memory_order_relaxed);
  if (by.parent != nullptr) {
    ++by.parent->awaited;
  } else if (recorded != nullptr) [[unlikely]] {
    recorded->push_back({&task, {accesses.begin(), accesses.end()}});
    task.recorded = static_cast<std::uint32_t>(recorded->size());
    task.references.fetch_add(1, std::memory_order_relaxed);
  }
  was_made(by, task, to.pushed == 0 || task.missing.close(to.pushed));
  if (error) std::rethrow_exception(std::move(error));
}

// It waits for all that it is to wait for, or for nothing.
void flow_core::was_made(const flow_creator& by, flow_task& task, bool is_ready) {
  const auto made = flow_counts::raise(by.counts.made);
  if (is_ready) {
    const bool elsewhere =
        by.on != nullptr && task.place != any_worker && task.place % this->workers() != by.on->index;
    const bool runs_here = by.on != nullptr && !task.has_locks && !elsewhere &&
                           (by.on->alone || (by.on->crowded && by.parent != nullptr));
    if (runs_here && by.on->nested < most_nested) {
      ++by.on->nested;
      this->run_at_once(*by.on, &task);
      --by.on->nested;
    } else {
      // The worker runs the task when the bodies below on its stack have returned. It runs the oldest one
      // first: a task that makes the next one does not keep the others from running.
      if (runs_here) task.place = by.on->index;
      can_begin(by, task);
    }
  }
  if (made % made_between_looks == 0) {
    flow_domain& domain = domain_of(by);
    if (domain.is_crowded())  // forgets the ranges whose last group has ended
      domain.sweep([&](flow_range& range) {
        const bool idle = range.last == nullptr || (range.open ? range.last->members.has_seen(range.joined)
                                                               : range.last->waiting.is_released());
        if (!idle || range.weak != nullptr) return false;
        forget(range, by);
        return true;
      });
    if (made >= made_before_history && by.parent == nullptr && repetition_ == nullptr && may_repeat())
      catch_all([this] { repetition_ = std::make_unique<flow_repetition>(); }, [] {});
    make_room(by);
  }
}

void flow_core::run_checked(const flow_creator& by, flow_task& task, std::span<const access> accesses) {
  if (!this->cancelled())
    catch_all(
        [&] {
          if (const auto wrong = checker->run(task, accesses))
            throw_error(misuse("teff::flow: the task " + name_in_words(task.body->name()) + " " + *wrong));
        },
        [this] { this->fail(std::current_exception()); });
  task.body->destroy(task);
  drop(by, task);
}

}  // namespace teff::detail
