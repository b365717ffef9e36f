// How a source counts its items of work, and finds that it is at rest (src/task_source/rest.md).
//
// tests/rest_model_test.cpp checks this very code.
#pragma once

#include <teff/detail/task_source/held_end.hpp>

#include <atomic>
#include <cstdint>

namespace teff::detail {

// The part of one worker that other threads read. That worker writes it, but for `visited` and `handed_over`.
template <template <class> class Atomic = std::atomic>
struct alignas(128) task_account {
  // Items that this worker gave to others: messages, shared tasks, ends that are held.
  Atomic<std::uint64_t> begun{0};
  // Items that it took, once all that followed from them has been done, or given away.
  Atomic<std::uint64_t> ended{0};
  // Tasks that it knows of and that wait for something. Goes with `ended`.
  Atomic<std::int64_t> waiting{0};
  // Whether the worker is using its own tables; and whether a waiter uses them, or wants to (enter()).
  Atomic<bool> inside{false};
  Atomic<bool> visited{false};
  // Whether the worker runs the source because it waits for it. Its own.
  bool awaits = false;
  // Tasks that only this worker can end, from the threads that released them.
  handed_over<Atomic> released;

  // Before another thread can see the item.
  void begin_one() noexcept {
    // Relaxed: the message that follows is released, and so is `ended` of the worker that takes it.
    begun.store(begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // All items that the worker took have ended: so many.
  void say_ended(std::uint64_t items) noexcept {
    // Release: all that the tasks did, and what they began, to the thread that finds the source at rest.
    ended.store(items, std::memory_order_release);
  }
  // The worker is about to look for waiters.
  void order_before_look() noexcept {
    // seq_cst: before the look for waiters and at the other accounts. Of two workers that end last, one sees
    // both.
    ended.store(ended.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  }
};

// Whether every item that has begun has ended, of these accounts and of what came from outside the workers.
// First what has ended, then what began: rest.md.
template <class Accounts, class Counter>
[[nodiscard]] bool all_have_ended(const Accounts& accounts, const Counter& begun_outside) noexcept {
  std::uint64_t ended = 0;
  // seq_cst: against the count of waiters. Acquire: all that the tasks did.
  for (const auto& each : accounts) ended += each.ended.load(std::memory_order_seq_cst);
  std::uint64_t begun = begun_outside.load(std::memory_order_relaxed);
  for (const auto& each : accounts) begun += each.begun.load(std::memory_order_relaxed);
  return begun == ended;
}

}  // namespace teff::detail
