// The end of a task: its groups end, their waiters may begin, and its parent may end.
#include <teff/detail/flow/flow_loop.hpp>

#include "flow/flow_core.hpp"
#include "flow/flow_memo.hpp"
#include "flow/flow_watch.hpp"

#include <utility>

namespace teff::detail {

// Released waiters go on one list, which run() works off. So a chain of ends is no recursion.
struct flow_core::releasing {
  flow_core& core;
  const flow_creator& by;
  flow_waiter* to_tell = nullptr;
  runnable* to_reduce = nullptr;  // tasks whose inner tasks have ended, and whose reductions come now

  void complete(flow_task& ended) noexcept {
    for (flow_task* task = &ended; task != nullptr;) {
      task->each_member([this](flow_member& each) {
        if (each.weak() == nullptr) end_member(each);
      });
      if (task->recorded == 0) task->body->destroy(*task);
      flow_task* const parent = task->parent;
      if (core.watch_ != nullptr) [[unlikely]]
        core.watch_->remove(*task);
      if (task->round != nullptr) end_in_round(*task);
      core.drop_reference(*task, by.pool);
      task = parent != nullptr && parent->unended.end_one() && parts_end(*parent) ? parent : nullptr;
    }
  }
  // All parts of the task that are counted have ended. Returns whether the task has.
  [[nodiscard]] bool parts_end(flow_task& task) noexcept {
    // Relaxed: what closed the count stored it before.
    const auto before = task.parts.load(std::memory_order_relaxed);
    if (before == parts_before::end) [[likely]]
      return true;
    go_on(task, before);
    return false;
  }
  // Not inline: the loops that call it would spill registers for it.
  [[gnu::noinline]] void go_on(flow_task& task, parts_before before) noexcept {
    if (before == parts_before::reductions) {
      task.next_in_line = std::exchange(to_reduce, &task);
    } else {
      // The task may be gone from here on. seq_cst: before the look for waiters.
      task.parts.store(parts_before::end, std::memory_order_seq_cst);
      core.wake_helpers();
    }
  }
  void end_part(flow_task& task) noexcept {
    if (task.unended.end_one() && parts_end(task)) complete(task);
  }

  void end_weak(flow_member& member) noexcept {
    flow_task& task = *member.task;
    end_member(member);
    end_part(task);
  }

  // All that adds to the task's private copies has ended. The task ends after their turns.
  [[gnu::noinline]] void reduce(flow_task& task) noexcept {
    task.parts.store(parts_before::end, std::memory_order_relaxed);
    task.unended.open_again();
    std::uint32_t turns = 0;
    reduction_part* part = nullptr;
    for (std::size_t i = 0; (part = task.body->reduction(task, i)) != nullptr; ++i) {
      if (part->member == nullptr) {
        // The task waited for all before it.
        catch_all([&] { part->combine(*part); }, [&] { core.fail(std::current_exception()); });
      } else {
        ++turns;
        if (part->done()) take_turns(*part);
      }
    }
    if (turns == 0 || task.unended.close(turns)) complete(task);
  }
  // Combines private copies as long as the next one is done.
  void take_turns(reduction_part& first) noexcept {
    for (auto* part = &first; part != nullptr;) {
      catch_all([&] { part->combine(*part); }, [&] { core.fail(std::current_exception()); });
      flow_task& task = *part->member->task;
      if (part->member->bounds) add(part->member->waiting.release());
      auto* const next = static_cast<reduction_part*>(part->pass());
      end_part(task);
      part = next != nullptr && next->reach() ? next : nullptr;
    }
  }

  void run() noexcept {
    for (;;) {
      while (to_tell != nullptr) tell(*std::exchange(to_tell, to_tell->next));
      if (to_reduce == nullptr) return;
      reduce(static_cast<flow_task&>(*std::exchange(to_reduce, to_reduce->next_in_line)));
    }
  }

 private:
  // The newest comes first: of the tasks that become ready, the worker goes on with the last one, which was
  // made first. So the worker follows the order of the program, and thieves take tasks that are far from it.
  void add(flow_waiter* list) noexcept {
    if (list == nullptr) return;
    flow_waiter* last = list;
    while (last->next != nullptr) last = last->next;
    last->next = std::exchange(to_tell, list);
  }
  void end_in_round(flow_task& task) noexcept {
    memo_round& round = *task.round;
    pass_on(round, round.of->tasks[task.number]);
    if (round.is_first) {
      round.in_table.fetch_sub(1, std::memory_order_release);  // pairs with flow_memo::has_ended()
    } else {
      add(static_cast<repeated_task&>(task).waiting.release());
    }
  }
  void pass_on(memo_round& round, const memo_node& ended) noexcept {
    for (const auto& each : ended.followers) {
      memo_round& in = each.next ? *round.next : round;
      if (each.join != 0) {
        if (in.join(each.at).end_one()) pass_on(in, round.of->joins[each.join - 1]);
      } else {
        flow_task& task = in.task(each.at);
        if (task.missing.end_one()) core.can_begin(by, task);
      }
    }
  }
  void end_group(flow_member& leader) noexcept {
    add(leader.waiting.release());
    core.drop_reference(*leader.task, by.pool);
  }
  void end_member(flow_member& member) noexcept {
    if (member.mode == access_mode::write) return add(member.waiting.release());
    if (auto* const lock = member.lock()) {
      if (flow_waiter* const next = lock->hand_on()) {
        flow_task& task = *next->member->task;
        task.last_lock = lock;
        core.can_begin(by, task);
      }
    }
    if (member.leader == nullptr) return;  // the access was not placed, for lack of memory
    if (member.leader->members.end_one()) end_group(*member.leader);
  }
  void tell(flow_waiter& waiter) noexcept {
    flow_member& member = *waiter.member;
    switch (waiter.kind) {
      case waiter_kind::access:
      case waiter_kind::end:
        if (member.task->missing.end_one())
          member.task->stands_in ? complete(*member.task) : core.can_begin(by, *member.task);
        break;
      case waiter_kind::group:
        if (member.members.end_one()) end_group(member);
        break;
      case waiter_kind::gate:
        add(member.weak()->gate.release());
        if (member.weak()->end.end_one()) end_weak(member);
        break;
      case waiter_kind::inner:
        if (member.weak()->end.end_one()) end_weak(member);
        break;
      case waiter_kind::turns:
        if (member.turn()->reach()) take_turns(*member.turn());
        break;
    }
  }
};

void flow_core::end(flow_worker& caller, runnable& node) noexcept {
  auto& task = static_cast<flow_task&>(node);
  if (task.body->goes_on != nullptr && task.body->goes_on(task) && !this->cancelled()) [[unlikely]]
    go_on(caller, task);
  else if (task.body->loop == nullptr || task.body->loop(task)->end_body()) [[likely]]
    end_now(caller, task);
}

// The events that the task's coroutine awaits have completed: the task is ready again.
void flow_core::go_on(flow_worker& caller, flow_task& task) noexcept {
  flow_counts::raise(caller.counts.made);
  task.counted = false;
  const flow_creator by{&caller, nullptr, caller.pool, caller.counts, true};
  const bool outer = std::exchange(caller.runs_what_it_receives, true);
  catch_all([&] { make_task_ready(by, task); }, [this] { this->fail(std::current_exception()); });
  caller.runs_what_it_receives = outer;
}

// The body has returned, and all chunks of a worksharing task have ended.
void flow_core::end_now(flow_worker& caller, flow_task& task) noexcept {
  if (!task.counted) count_ran(caller, task);  // its body was not called, or threw
  const flow_creator by{&caller, nullptr, caller.pool, caller.counts, true};
  // The end runs functions of the program, of reductions. The worker may wait in them, and its item has not
  // ended then.
  running_task ending{.task = &task, .ends = true};
  auto* const outer_task = std::exchange(caller.running, &ending);
  // Of the tasks that may begin now, one runs next here.
  const bool outer = std::exchange(caller.runs_what_it_receives, true);
  releasing all{*this, by};
  if (task.has_more || task.inner != nullptr) [[unlikely]]
    end_parts(task, all);
  if ((task.awaited == 0 || task.unended.close(task.awaited)) && all.parts_end(task)) all.complete(task);
  all.run();
  caller.runs_what_it_receives = outer;
  caller.running = outer_task;
}

void flow_core::end_stand_in(const flow_creator& by, flow_task& task) noexcept {
  releasing all{*this, by};
  all.complete(task);
  all.run();
}

// The parts, beside the body, that the task's reductions and its end wait for.
void flow_core::end_parts(flow_task& task, releasing& all) noexcept {
  // Relaxed: before the count is closed.
  if (task.body->reduction != nullptr) task.parts.store(parts_before::reductions, std::memory_order_relaxed);
  if (task.inner != nullptr)
    catch_all([&] { close_domain(task, all.by); }, [this] { this->fail(std::current_exception()); });
  task.each_member([&](flow_member& each) {
    if (each.weak() != nullptr) {
      ++task.awaited;
      if (each.weak()->end.close(each.weak()->parts)) all.end_weak(each);
    }
  });
}

}  // namespace teff::detail
