// A task that ends later than its body (src/task_source/README.md, "Ends that are held").
//
// tests/rest_model_test.cpp checks this very code.
#pragma once

#include <teff/detail/ready/ready_node.hpp>

#include <atomic>
#include <utility>

namespace teff::detail {

class task_source_base;

// A count of the events that the end of one task waits for: the return of its body, and the release of each
// handle. Made by the body's first handle, so that a task without handles has none of it.
template <template <class> class Atomic = std::atomic>
class held_end {
 public:
  // The body and the first handle hold the end. Only worker `ends_on` can end the task, or any.
  held_end(task_source_base* source, ready_node* of_task, unsigned on_worker) noexcept
      : of(source), task(of_task), ends_on(on_worker) {}

  // One more handle. The thread of the body, which holds the end itself.
  void hold() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // The body has returned, or a handle lets go. True: that was the last, and the caller sees to the end.
  [[nodiscard]] bool release() noexcept {
    // Release: all that the caller did before the end. Acquire: all that the other holders did.
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  task_source_base* const of;
  ready_node* const task;
  const unsigned ends_on;
  held_end* next = nullptr;  // used by handed_over

 private:
  Atomic<unsigned> count_{2};
};

// Ends that threads hand over to a worker: a stack.
template <template <class> class Atomic = std::atomic>
class handed_over {
 public:
  // Any thread.
  void push(held_end<Atomic>& end) noexcept {
    auto* newest = newest_.load(std::memory_order_relaxed);
    do {
      end.next = newest;
      // seq_cst: before the look whether a worker sleeps, against the worker's last look. Release: the end,
      // and what its holders did, to take_all().
    } while (
        !newest_.compare_exchange_strong(newest, &end, std::memory_order_seq_cst, std::memory_order_relaxed));
  }
  // The ends that are there, linked by `next`; or null.
  [[nodiscard]] held_end<Atomic>* take_all() noexcept {
    // Acquire: pairs with push().
    return newest_.exchange(nullptr, std::memory_order_acquire);
  }
  // seq_cst: the last look of a worker that is about to sleep.
  [[nodiscard]] bool empty() const noexcept { return newest_.load(std::memory_order_seq_cst) == nullptr; }

 private:
  Atomic<held_end<Atomic>*> newest_{nullptr};
};

}  // namespace teff::detail
