// Ready tasks of a source: on one worker, those that it alone may run and those that thieves may take; and on
// all workers (src/ready/README.md).
#pragma once

#include <teff/detail/ready/ready_deque.hpp>
#include <teff/detail/ready/ready_queues.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace teff::detail {

extern template class ready_deque<runnable>;  // src/ready/ready_tasks.cpp

// Only the worker that owns the queues calls these functions, but for those under "For thieves".
class ready_tasks {
 public:
  explicit ready_tasks(unsigned worker) noexcept : random_(0x9e3779b97f4a7c15U * (worker + 1)) {}

  // Only this worker may run the task. Throws std::bad_alloc.
  void push_own(runnable* task) { own_.push(task); }
  // For one more shared task: then push_shared() does not throw. Throws std::bad_alloc.
  void make_room(bool by_priority) {
    if (by_priority) [[unlikely]] {
      shared_heap_.make_room();
    } else {
      shared_.make_room();
    }
  }
  // Any worker may run it. `by_priority`: tasks of the source have priorities. Throws std::bad_alloc.
  void push_shared(runnable* task, bool by_priority) {
    if (by_priority) [[unlikely]] {
      shared_heap_.push(task);
    } else {
      shared_.push(task);
    }
  }
  // Keeps a task that any worker might run, to be run next here. Returns the task that was kept before.
  [[nodiscard]] runnable* keep_next(runnable* task) noexcept { return std::exchange(next_, task); }
  // The task that is kept, or null.
  [[nodiscard]] const runnable* kept() const noexcept { return next_; }
  // Whether one in the queues is to run before a kept task of this priority: of equal ones, one that this
  // worker alone may run.
  [[nodiscard]] bool has_before(int priority) noexcept {
    const runnable* const own = own_.front();
    return (own != nullptr && own->priority >= priority) || shared_heap_.has_above(priority);
  }

  // The task to run next, or null: then this worker has none. `look_for_more()` is called before a choice by
  // priority: there may be a higher one that is not in any queue yet. It may push tasks and keep one.
  template <class LookForMore>
  [[nodiscard]] runnable* take(LookForMore look_for_more) noexcept {
    if (next_ != nullptr) return std::exchange(next_, nullptr);
    if (!shared_heap_.empty()) [[unlikely]] {
      look_for_more();
      if (next_ == nullptr || has_before(next_->priority))
        if (runnable* const task = take_by_priority()) return task;
      return std::exchange(next_, nullptr);  // a thief may have taken the task that was to run before
    }
    if (runnable* const task = own_.pop()) return task;
    if (runnable* const task = shared_.take()) {
      ++shared_taken_;
      return task;
    }
    return nullptr;
  }

  // Of the tasks that no other worker may take, the one to run next, or null.
  [[nodiscard]] runnable* take_own() noexcept {
    return next_ != nullptr ? std::exchange(next_, nullptr) : own_.pop();
  }

  // The first of these that lies in the queue, or null. Any thread that is in the worker's place.
  [[nodiscard]] runnable* take_queued() noexcept { return own_.pop(); }

  // Whether this worker has tasks that it alone may run.
  [[nodiscard]] bool has_own() const noexcept { return !own_.empty(); }
  // Whether it has such tasks, or has kept one to run next.
  [[nodiscard]] bool sees_own() const noexcept { return next_ != nullptr || !own_.empty(); }

  // How many shared tasks this worker has taken, its own and others'.
  [[nodiscard]] std::uint64_t shared_taken() const noexcept { return shared_taken_; }

  // ---- For thieves ----

  // A shared task: the one with the highest priority, or else the oldest. Null if there is none or another
  // thief was quicker.
  [[nodiscard]] runnable* steal() noexcept {
    runnable* const task = shared_.steal();
    return task != nullptr ? task : shared_heap_.take();
  }
  [[nodiscard]] bool sees_shared() const noexcept { return !shared_.empty() || !shared_heap_.empty(); }

 private:
  friend class ready_group;  // steals for this worker
  [[nodiscard]] runnable* take_by_priority() noexcept;

  own_queue own_;
  runnable* next_ = nullptr;
  std::uint64_t shared_taken_ = 0;
  std::uint64_t random_;
  ready_deque<runnable> shared_;  // for tasks without priorities
  shared_heap shared_heap_;       // for tasks with priorities
};

// The ready tasks of a source on all workers, from which a worker that has none steals.
class ready_group {
 public:
  explicit ready_group(std::size_t workers) { members_.reserve(workers); }

  // Adds the tasks of the next worker; before any of the queues is used. Throws std::bad_alloc.
  void add(ready_tasks& of_a_worker) { members_.push_back(&of_a_worker); }

  // Steals a shared task for the worker of `thief`, trying all workers from a random one on. Null if there is
  // none, or other thieves were quicker.
  [[nodiscard]] runnable* steal(ready_tasks& thief) noexcept;

  // Whether steal() would find a task.
  [[nodiscard]] bool sees_shared() const noexcept;

 private:
  std::vector<ready_tasks*> members_;
};

}  // namespace teff::detail
