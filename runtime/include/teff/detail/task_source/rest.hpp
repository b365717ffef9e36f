// How a source counts its items of work and the ends that are held, and finds that it is at rest
// (src/task_source/rest.md).
//
// tests/rest_model_test.cpp checks this very code.
#pragma once

#include <teff/detail/ready/inbox.hpp>
#include <teff/detail/ready/ready_queues.hpp>

#include <atomic>
#include <cstdint>

namespace teff::detail {

class task_source_base;

// A task may end later than its body (src/task_source/README.md, "Ends that are held"). A count of the events
// that the end of one task waits for: the return of its body, and the release of each handle. Made by the
// body's first handle, so that a task without handles has none of it.
template <template <class> class Atomic = std::atomic>
class held_end : public runnable {
 public:
  // The body and the first handle hold the end. Only worker `ends_on` can end the task, or any.
  held_end(task_source_base* source, runnable* of_task, unsigned on_worker) noexcept
      : runnable(runnable_kind::end), of(source), task(of_task), ends_on(on_worker) {}

  // One more handle. The thread of the body, which holds the end itself.
  void hold() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // The body has returned, or a handle lets go. True: that was the last, and the caller sees to the end.
  [[nodiscard]] bool let_go() noexcept {
    // Release: all that the caller did before the end. Acquire: all that the other holders did.
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  // In the body: whether handles hold the end besides. Acquire: if not, all that their holders did.
  [[nodiscard]] bool has_handles() const noexcept { return count_.load(std::memory_order_acquire) != 1; }

  task_source_base* const of;
  runnable* const task;
  const unsigned ends_on;

 private:
  Atomic<unsigned> count_{2};
};

// The part of one worker that other threads read. That worker writes it, but for the inbox, and for what
// belongs to its place: any thread that is in the place writes that.
template <template <class> class Atomic = std::atomic>
struct alignas(128) task_account {
  // Items that this worker gave to others: messages, shared tasks, ends that are held.
  Atomic<std::uint64_t> begun{0};
  // Items that it took, once all that followed from them has been done, or given away.
  Atomic<std::uint64_t> ended{0};
  // Ends that tasks here hold, less those that were released and that this worker took.
  Atomic<std::int64_t> held{0};
  // Tasks that its tables know of and that wait for something. Goes with `ended`. Of its place.
  Atomic<std::int64_t> waiting{0};
  // Whether a thread is in the place of the worker: it uses the worker's tables (src/task_source/places.md).
  Atomic<bool> in_use{false};
  // Of a source whose places are preferences: when the worker last left its place.
  Atomic<std::int64_t> left_at{0};
  // The worker's own. It runs the source because it waits for it.
  bool awaits = false;
  // It has looked for waiters since it last said what has ended.
  bool has_looked = false;
  // When it last looked in vain for work in the places of others.
  std::int64_t looked_at = 0;
  // Tasks that only this worker may run, and ends that only it can see to, from other threads: items.
  alignas(64) inbox<runnable, &runnable::next_in_line, Atomic> received;

  // The calling thread is about to use the tables. False: another thread does, for now.
  [[nodiscard]] bool enter() noexcept {
    // Acquire: pairs with leave().
    return !in_use.exchange(true, std::memory_order_acquire);
  }
  void leave() noexcept {
    // Release: all that the thread did there, to the next one that enters.
    in_use.store(false, std::memory_order_release);
  }

  // Before another thread can see the item.
  void begin_one() noexcept {
    // Relaxed: the message that follows is released, and so is `ended` of the worker that takes it.
    begun.store(begun.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // Of the items that have begun, one more (or less) is an end that is held. Relaxed: only a hint.
  void count_held(std::int64_t more) noexcept {
    held.store(held.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  // All items that the worker took have ended: so many.
  void say_ended(std::uint64_t items) noexcept {
    // Release: all that the tasks did, and what they began, to the thread that finds the source at rest.
    ended.store(items, std::memory_order_release);
    has_looked = false;
  }
  // The worker is about to look for waiters.
  void order_before_look() noexcept {
    // seq_cst: before the look for waiters and at the other accounts. Of two workers that end last, one sees
    // both.
    ended.store(ended.load(std::memory_order_relaxed), std::memory_order_seq_cst);
    has_looked = true;
  }
};

// How many items have begun and not ended, of these accounts and of what came from outside the workers.
// First what has ended, then what began: rest.md.
template <class Accounts, class Counter>
[[nodiscard]] std::uint64_t items_left(const Accounts& accounts, const Counter& begun_outside) noexcept {
  std::uint64_t ended = 0;
  // seq_cst: against the count of waiters. Acquire: all that the tasks did.
  for (const auto& each : accounts) ended += each.ended.load(std::memory_order_seq_cst);
  std::uint64_t begun = begun_outside.load(std::memory_order_relaxed);
  for (const auto& each : accounts) begun += each.begun.load(std::memory_order_relaxed);
  return begun - ended;
}

}  // namespace teff::detail
