// Ready tasks of a source: on one worker, those that it alone may run and those that thieves may take
// (src/ready/README.md).
#pragma once

#include <teff/detail/ready/ready_deque.hpp>
#include <teff/detail/ready/ready_queues.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

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
    if (by_priority) [[unlikely]]
      return shared_heap_.make_room();
    shared_.make_room();
  }
  // Any worker may run it. `by_priority`: tasks of the source have priorities. Throws std::bad_alloc.
  void push_shared(runnable* task, bool by_priority) {
    if (by_priority) [[unlikely]]
      return shared_heap_.push(task);
    shared_.push(task);
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

  // On this worker, which has no task: steals a shared task, trying the queues of all workers from a random
  // one on. `queues_of(worker)`: these. Null if there is none, or other thieves were quicker.
  template <class QueuesOf>
  [[nodiscard]] runnable* steal_from(std::size_t workers, QueuesOf queues_of) noexcept {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    for (std::size_t i = 0, at = random_ % workers; i < workers; ++i, at = at + 1 == workers ? 0 : at + 1) {
      if (runnable* const task = queues_of(at).steal()) {
        ++shared_taken_;
        return task;
      }
    }
    return nullptr;
  }

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
  [[nodiscard]] runnable* take_by_priority() noexcept;

  own_queue own_;
  runnable* next_ = nullptr;
  std::uint64_t shared_taken_ = 0;
  std::uint64_t random_;
  ready_deque<runnable> shared_;  // for tasks without priorities
  shared_heap shared_heap_;       // for tasks with priorities
};

}  // namespace teff::detail
