// A task is made: each of its accesses joins the last group of its range, or begins one after it.
#include <teff/error.hpp>

#include "flow/flow_core.hpp"
#include "flow/flow_recording.hpp"
#include "flow/releasing.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace teff::detail {

// A task while it is made.
struct flow_core::addition {
  const maker& by;
  flow_task& task;
  flow_domain& domain;
  std::span<const access> accesses;
  std::uint32_t pushed = 0;      // members on lists of groups that the task waits for
  std::uint32_t references = 1;  // as in the task

  // A member that lies in the task while there is room, or beside it. Throws std::bad_alloc.
  flow_member& member() {
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
};

// ---- Ranges and groups ----

// No further member joins the last group of the range.
void flow_core::close(flow_range& range, const maker& by) noexcept {
  range.open = false;
  for (auto** const each : {&range.newest, &range.bounds[0], &range.bounds[1]})
    if (auto* const member = std::exchange(*each, nullptr)) release(*member->task, by.pool);
  if (!range.last->members.close(range.joined)) return;
  static_cast<void>(range.last->waiting.release());  // empty: only this thread adds to it
  release(*range.last->task, by.pool);
}

// The table lets go of the range's groups.
void flow_core::forget(flow_range& range, const maker& by) noexcept {
  if (range.open) close(range, by);
  if (auto* const last = std::exchange(range.last, nullptr)) release(*last->task, by.pool);
  if (auto* const before = std::exchange(range.before, nullptr)) release(*before->task, by.pool);
}

// Each of so many tasks in a row, or of twice as many, may write its private copy before its turn.
std::uint32_t flow_core::copies_ahead(const flow_range& range) const noexcept {
  constexpr std::uintptr_t bytes = 1 << 20;
  constexpr std::uintptr_t most = 512;
  const std::uintptr_t workers = this->workers();
  return static_cast<std::uint32_t>(
      std::clamp(bytes / (range.end - range.begin), workers, std::max(most, workers)));
}

void flow_core::join(addition& to, flow_member& member, flow_range& range, const access& what) {
  const maker& by = to.by;
  member.task = &to.task;
  member.member = &member;
  member.kind = waiter_kind::access;
  if (range.open && range.mode == member.mode && range.operation == what.operation) {
    member.leader = range.last;
    if (auto* const lock = range.last->lock()) member.set_lock(*lock);
    ++range.joined;
  } else {
    // The range was cut in two while readers had it. Its further readers wait for the same group as these.
    const bool goes_on = range.last != nullptr && !range.open && range.mode == member.mode &&
                         (member.mode == access_mode::in || member.mode == access_mode::concurrent);
    if (range.open) close(range, by);
    member.leads = true;
    member.leader = &member;
    if (member.mode == access_mode::commutative) member.set_lock(*new flow_member::group_lock);
    to.references += member.mode == access_mode::write ? 1 : 2;
    std::uint32_t links = 0;
    if (goes_on) {
      auto& link = addition::extra(to.task);
      link.kind = waiter_kind::group;
      link.member = &member;
      link.is_link = true;
      if (range.last->waiting.add(link)) links = 1;
      release(*range.last->task, by.pool);
    } else {
      if (range.before != nullptr) release(*range.before->task, by.pool);
      range.before = range.last;
    }
    range.last = &member;
    range.mode = member.mode;
    range.operation = what.operation;
    range.open = member.mode != access_mode::write;
    range.joined = 1 + links;
  }
  if (member.lock() != nullptr) to.task.has_locks = to.task.has_more = true;

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
      release(*range.newest->task, by.pool);
      if (range.bounds[0] != nullptr && range.bounds[0]->waiting.add(member)) ++to.pushed;
      if ((range.joined - 1) % copies_ahead(range) == 0) {
        member.bounds = true;
        if (auto* const older = std::exchange(range.bounds[0], std::exchange(range.bounds[1], &member)))
          release(*older->task, by.pool);
        ++to.references;
      }
    }
    range.newest = &member;
    ++to.references;
  } else if (member.weak() != nullptr) {
    member.kind = waiter_kind::gate;
    member.weak()->parts = 1;
    waits = list != nullptr && list->add(member);
    if (!waits) {
      member.weak()->parts = 0;
      static_cast<void>(member.weak()->gate.release());  // no task waits for it yet
    }
  } else if (list != nullptr && list->add(member)) {
    waits = true;
    ++to.pushed;
  }
  if (range.before != nullptr && (!waits || member.mode == access_mode::write))
    release(*std::exchange(range.before, nullptr)->task, by.pool);
}

void flow_core::add(addition& to, const access& what, std::uintptr_t begin, std::uintptr_t end) {
  // Which of the task's reductions it is, if it is one.
  const auto reduction = [&] {
    return static_cast<std::size_t>(std::count_if(
        to.accesses.data(), &what, [](const access& each) { return each.mode == access_mode::reduction; }));
  };
  // A task takes the turns of its commutative accesses when it begins, and keeps them to its end. Its end
  // must not wait for an earlier task then, which may need such a turn. So the task begins after those.
  const bool begins_late = what.weak || what.mode == access_mode::reduction;
  const bool begins_in_turn = begins_late && std::ranges::any_of(to.accesses, [](const access& each) {
                                return each.mode == access_mode::commutative && !each.weak;
                              });
  const auto place = [&](flow_range& range, bool whole) {
    flow_member& member = to.member();
    member.mode = what.mode;
    if (what.weak && !begins_in_turn) {
      member.mode = what.mode == access_mode::in ? access_mode::in : access_mode::write;
      member.set_weak(*new weak_part(range.begin, range.end));
      to.task.has_more = true;
    }
    if (what.mode == access_mode::reduction) {
      to.task.has_more = true;
      if (whole && !what.weak && !begins_in_turn) {
        member.set_turn(*to.task.body->reduction(to.task, reduction()));
        member.turn()->member = &member;
      } else {
        member.mode = access_mode::write;
      }
    }
    join(to, member, range, what);
  };
  if (flow_range* const found = to.domain.exact(begin, end)) [[likely]]
    return place(*found, true);
  std::vector<flow_range*> parts;
  to.domain.cover(begin, end, parts, [&](flow_range& left, flow_range& right) {
    if (left.open) {
      close(left, to.by);
      right.open = false;
      right.newest = right.bounds[0] = right.bounds[1] = nullptr;
    }
    for (auto* const each : {left.last, left.before})
      if (each != nullptr) each->task->references.fetch_add(1, std::memory_order_relaxed);
  });
  for (auto* const each : parts) place(*each, parts.size() == 1);
}

// Accesses of one task that touch the same memory: the strongest counts, so no task waits for itself.
void flow_core::add_overlapping(addition& to) {
  struct piece {
    std::uintptr_t begin;
    std::uintptr_t end;
    const access* of;
  };
  std::vector<piece> pieces;
  for (const auto& each : to.accesses)
    for (std::size_t row = 0; each.bytes != 0 && row < each.rows; ++row) {
      const auto begin = reinterpret_cast<std::uintptr_t>(each.first) + row * each.stride;
      pieces.push_back({begin, begin + each.bytes, &each});
    }
  // Pieces that begin at one place stay in the order of the accesses.
  std::ranges::sort(pieces, {}, [](const piece& each) { return std::pair(each.begin, each.of); });
  std::uintptr_t reached = 0;
  bool overlap = false;
  for (const auto& each : pieces) {
    overlap = overlap || each.begin < reached;
    reached = std::max(reached, each.end);
  }
  if (!overlap) {
    for (const auto& each : pieces) add(to, *each.of, each.begin, each.end);
    return;
  }
  std::vector<std::uintptr_t> cuts;
  for (const auto& each : pieces) cuts.insert(cuts.end(), {each.begin, each.end});
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<piece> active;
  struct cut_piece {
    const access* named;  // by the program; null: of several accesses
    access all;
    std::uintptr_t begin;
    std::uintptr_t end;
  };
  std::vector<cut_piece> cut_pieces;  // all are checked before one is added
  auto next = pieces.begin();
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    for (; next != pieces.end() && next->begin == cuts[i]; ++next) active.push_back(*next);
    std::erase_if(active, [&](const piece& each) { return each.end <= cuts[i]; });
    if (active.empty()) continue;
    access all = *active.front().of;
    for (const auto& each : active) {
      const bool same = each.of->mode == all.mode;
      if ((each.of->mode == access_mode::reduction || all.mode == access_mode::reduction) &&
          active.size() > 1)
        throw_error(
            misuse("teff::flow: a task touches memory that it also names in a reduction, whose value is "
                   "there only when "
                   "the reduction has ended: read it in a task that follows, by in()"));
      if (!same) all.mode = access_mode::write;
      all.weak = all.weak && each.of->weak;
    }
    cut_pieces.push_back({active.size() == 1 ? active.front().of : nullptr, all, cuts[i], cuts[i + 1]});
  }
  for (const auto& each : cut_pieces)
    add(to, each.named != nullptr ? *each.named : each.all, each.begin, each.end);
}

// ---- Domains ----

flow_domain& flow_core::domain_of(const maker& by) {
  if (by.parent == nullptr) return domain_;
  if (by.parent->inner != nullptr) return *by.parent->inner;
  auto made = std::make_unique<flow_domain>();
  by.parent->each_member([&](flow_member& each) {
    if (each.weak() != nullptr)
      made->insert(each.weak()->begin, each.weak()->end_of_range).weak = each.weak();
  });
  return *(by.parent->inner = made.release());
}

// The body of `parent` has ended. Each of its weak accesses ends with the last groups on its range.
void flow_core::close_domain(flow_task& parent, const maker& by) {
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

// ---- A task ----

void flow_core::place_after(addition& to) {
  const auto accesses = to.accesses;
  constexpr std::size_t few = 8;
  bool plain = accesses.size() <= few;
  for (std::size_t i = 0; plain && i < accesses.size(); ++i) {
    plain = accesses[i].rows == 1;
    for (std::size_t j = 0; plain && j < i; ++j)
      plain = accesses[i].first + accesses[i].bytes <= accesses[j].first ||
              accesses[j].first + accesses[j].bytes <= accesses[i].first;
  }
  if (!plain) return add_overlapping(to);
  for (const auto& each : accesses) {
    const auto begin = reinterpret_cast<std::uintptr_t>(each.first);
    if (each.bytes != 0) add(to, each, begin, begin + each.bytes);
  }
}

namespace {

// The body of a task that could not be made.
constexpr flow_body nothing{[](flow_task&) {}, [](flow_task&) noexcept {}, nullptr,
                            []() noexcept { return ""; }};

}  // namespace

void flow_core::submit(const maker& by, flow_task& task, std::span<const access> accesses) {
  if (task.priority != 0) has_priorities_.store(true, std::memory_order_relaxed);
  const bool in_chunk = by.parent != nullptr && by.parent->body->loop != nullptr;
  if (replayed == this || in_chunk) [[unlikely]] {
    task.body->destroy(task);
    drop(by, task);
    if (in_chunk) refuse_in_chunk("teff::flow::task");
    throw not_replayable(
        "teff::flow::task: called in the body of a replayed task, which made no task when it was recorded: "
        "make "
        "all tasks outside, or record anew");
  }
  flow_domain& domain = domain_of(by);
  addition to{by, task, domain, accesses};
  std::exception_ptr error;
  catch_all(
      [&] {
        if (watch_ != nullptr) [[unlikely]]
          watch_->add(task, accesses);
        place_after(to);
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
    task.is_kept = true;
    task.references.fetch_add(1, std::memory_order_relaxed);
  }
  const auto made = flow_counts::raise(by.counts.made);
  if (to.pushed == 0 || task.missing.close(to.pushed)) {
    const bool elsewhere =
        by.on != nullptr && task.place != any_worker && task.place % this->workers() != by.on->index;
    if (by.on == nullptr || task.has_locks || elsewhere ||
        !(by.on->alone || (by.on->crowded && by.parent != nullptr))) {
      can_begin(by, task);
    } else if (by.parent == nullptr) {
      this->run_at_once(*by.on, &task);
    } else if (by.on->nested == most_nested) {
      wait_for_stack(*by.on, task);
    } else {
      ++by.on->nested;
      this->run_at_once(*by.on, &task);
      --by.on->nested;
    }
  }
  if (made % made_between_looks == 0) {
    if (domain.is_crowded()) sweep(domain, by);
    make_room(by);
  }
  if (error) std::rethrow_exception(std::move(error));
}

void flow_core::run_checked(const maker& by, flow_task& task, std::span<const access> accesses) {
  if (checker->is_within_loop()) {
    task.body->destroy(task);
    drop(by, task);
    refuse_in_chunk("teff::flow::task");
  }
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

// Forgets the ranges whose last group has ended.
void flow_core::sweep(flow_domain& domain, const maker& by) {
  domain.sweep([&](flow_range& range) {
    const bool idle = range.last == nullptr || (range.open ? range.last->members.has_seen(range.joined)
                                                           : range.last->waiting.is_released());
    if (!idle || range.weak != nullptr) return false;
    forget(range, by);
    return true;
  });
}

}  // namespace teff::detail
