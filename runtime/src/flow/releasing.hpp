// The end of a task: its groups end, their waiters may begin, and its parent may end.
#pragma once

#include "flow/flow_core.hpp"
#include "flow/flow_watch.hpp"

#include <utility>

namespace teff::detail {

// Released waiters go on one list, which run() works off. So a chain of ends is no recursion.
struct flow_core::releasing {
  flow_core& core;
  const maker& by;
  flow_waiter* to_tell = nullptr;

  void complete(flow_task& ended) noexcept {
    for (flow_task* task = &ended; task != nullptr;) {
      task->each_member([this](flow_member& each) {
        if (each.weak() == nullptr) end_member(each);
      });
      if (!task->is_kept) task->body->destroy(*task);
      flow_task* const parent = task->parent;
      if (core.watch_ != nullptr) [[unlikely]]
        core.watch_->remove(*task);
      core.release(*task, by.pool);
      task = parent != nullptr && parent->unended.end_one() ? parent : nullptr;
    }
  }

  void end_weak(flow_member& member) noexcept {
    flow_task& task = *member.task;
    end_member(member);
    if (task.unended.end_one()) complete(task);
  }

  // Combines private copies as long as the next one is done.
  void take_turns(reduction_part& first) noexcept {
    for (auto* part = &first; part != nullptr;) {
      catch_all([&] { part->combine(*part); }, [&] { core.fail(std::current_exception()); });
      flow_task& task = *part->member->task;
      auto* const next = static_cast<reduction_part*>(part->pass());
      if (task.unended.end_one()) complete(task);
      part = next != nullptr && next->reach() ? next : nullptr;
    }
  }

  void run() noexcept {
    while (to_tell != nullptr) tell(*std::exchange(to_tell, to_tell->next));
  }

 private:
  void add(flow_waiter* list) noexcept {
    while (list != nullptr) {
      auto* const each = std::exchange(list, list->next);
      each->next = std::exchange(to_tell, each);
    }
  }
  void end_group(flow_member& leader) noexcept {
    add(leader.waiting.release());
    core.release(*leader.task, by.pool);
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
        if (member.task->missing.end_one()) core.can_begin(by, *member.task);
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

}  // namespace teff::detail
