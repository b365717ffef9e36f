// Where a fork's task lies: in a slot and in its handle, or outside the workers.
#pragma once

#include <teff/detail/fork_join/outside_tasks.hpp>
#include <teff/detail/fork_join/task_row.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace teff::detail {

// A closure too large for a slot lies in its handle.
template <class F>
struct kept_closure {
  F kept;
};
template <class F>
struct forked_task_in_frame : kept_closure<F>, join_task_in_frame<F> {
  forked_task_in_frame(task_slot& slot, F& f)
      : kept_closure<F>{std::forward<F>(f)}, join_task_in_frame<F>(slot, this->kept) {}
};
template <class F>
using forked_task = std::conditional_t<std::is_same_v<join_task<F>, join_task_in_slot<F>>, join_task<F>,
                                       forked_task_in_frame<F>>;

// A fork outside the workers.
using fork_outside = std::unique_ptr<outside_task>;
[[gnu::cold]] fork_outside new_fork_outside();

// A fork is got whose slot is not the newest of the calling worker. Returns if that was made outside, else
// throws misuse.
[[gnu::cold]] void expect_outside(const task_slot* slot);

// The task of a fork that was made outside: runs it here, or waits until it has ended. (The slot is cast by
// way of a reference, so that no compiler takes it for null.)
template <class Task>
typename Task::result take_outside(Task& task, task_slot* slot) {
  const fork_outside owned(&static_cast<outside_task&>(*slot));
  if (!owned->has_runtime()) return task.run(*slot);
  owned->wait();
  return task.stolen_result(*slot);
}

// The task of a fork that was made outside, whose result is not wanted: drops it if it has not begun, else
// waits until it has ended.
template <class Task>
void abandon_outside(Task& task, task_slot* slot) noexcept {
  const fork_outside owned(&static_cast<outside_task&>(*slot));
  if (!owned->has_runtime() || owned->withdraw()) return task.drop(*slot);
  catch_all([&] { owned->wait(), task.stolen_result(*slot); }, [] {});  // another exception came first
}

}  // namespace teff::detail
