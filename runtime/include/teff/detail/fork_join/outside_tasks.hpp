// Tasks of threads that are no workers: requests to the default runtime (src/fork_join/README.md).
#pragma once

#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/local_deque.hpp>

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace teff::detail {

// A task in a slot that lies in no deque.
class outside_task : public awaited_job, public task_slot {
 public:
  // `by` is the second argument of the slot's run(). Throws the exceptions of begin_outside().
  explicit outside_task(const scope_state* by);
  ~outside_task();

  // Whether the default runtime runs it. If not, the calling thread is to run what it put into the slot.
  [[nodiscard]] bool has_runtime() const noexcept { return runtime_ != nullptr; }
  // The slot holds a task: from now on a worker may run it.
  void submit() noexcept;
  // After submit(): whether the task has not begun; then no worker begins it from now on.
  [[nodiscard]] bool withdraw() noexcept;
  // Once, after submit(): returns when the task has ended. Throws forked_process.
  void wait();

 private:
  const scope_state* const by_;
  scheduler* runtime_;
};

// The tasks of a scope of such a thread. Any thread may add one.
class outside_tasks {
 public:
  // Has `fill(slot)` put a task into a slot, for a worker to run. False: nothing was done, and the caller is
  // to run the task itself: enough tasks wait already, or there is no default runtime.
  template <class Fill>
  [[nodiscard]] bool spawn(const scope_state* scope, Fill fill) {
    const std::lock_guard lock(mutex_);
    if (!has_room()) return false;
    auto task = std::make_unique<outside_task>(scope);
    if (!task->has_runtime()) return false;
    fill(task.get());
    tasks_.push_back(std::move(task));
    tasks_.back()->submit();
    return true;
  }
  // Returns when all have ended, those included that are spawned meanwhile. Throws forked_process.
  void wait();

 private:
  [[nodiscard]] bool has_room();

  std::mutex mutex_;  // guards what follows
  std::vector<std::unique_ptr<outside_task>> tasks_;
  unsigned without_room_ = 0;  // spawns that found no room, nor the middle task ended
};

}  // namespace teff::detail
