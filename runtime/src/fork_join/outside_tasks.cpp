#include <teff/detail/fork_join/outside_tasks.hpp>
#include <teff/detail/fork_join/scope_tasks.hpp>
#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/detail/scheduler/process.hpp>
#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>
#include <teff/fork.hpp>

#include "scheduler/scheduler.hpp"

namespace teff::detail {

outside_task::outside_task(const scope_state* by)
    : awaited_job{{[](job& this_job) noexcept {
        auto& me = static_cast<outside_task&>(this_job);
        me.task_slot::run(me, me.by_);
        me.ended.come();
      }}},
      task_slot{},
      by_(by),
      runtime_(begin_outside()) {}

outside_task::~outside_task() {
  if (runtime_ != nullptr) end_call(*runtime_);
}

void outside_task::submit() noexcept {
  submit_request(*runtime_, *this);
}

bool outside_task::withdraw() noexcept {
  return !runtime_->is_of_parent() && withdraw_request(*runtime_, *this);
}

void outside_task::wait() {
  end_outside(*std::exchange(runtime_, nullptr), *this);
}

bool outside_tasks::has_room() {
  tasks_.reserve(scope_window);
  // A look at all tasks is dear. Requests begin in their order, so it frees about half of them when the
  // middle one has ended. If that task takes long, each 256th spawn looks.
  const auto is_time_to_look = [this] {
    return tasks_[scope_window / 2]->ended.has_come() || ++without_room_ % scope_window == 0;
  };
  if (tasks_.size() == scope_window && is_time_to_look())
    std::erase_if(tasks_, [](const auto& each) { return each->ended.has_come(); });
  return tasks_.size() < scope_window;
}

void outside_tasks::wait() {
  const auto take_newest = [this]() -> std::unique_ptr<outside_task> {
    const std::lock_guard lock(mutex_);
    if (tasks_.empty()) return nullptr;
    auto newest = std::move(tasks_.back());
    tasks_.pop_back();
    return newest;
  };
  while (const auto task = take_newest()) task->wait();
}

fork_outside new_fork_outside() {
  auto made = std::make_unique<outside_task>(thief<const scope_state>);
  made->exceptions = exceptions_in_flight() | made_outside;
  return made;
}

void expect_outside(const task_slot* slot) {
  if (slot == nullptr) throw misuse("teff::forked: got twice");
  if ((slot->exceptions & made_outside) != 0) return;
  if (was_forked_by_worker()) throw forked_process();
  throw misuse(
      "teff::forked: got on another worker than the one that forked it, or before a fork, scope or join that "
      "was made later has ended; the newest comes first, and futures of submit() come in any order");
}

}  // namespace teff::detail
