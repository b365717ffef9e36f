// How a thread waits, and how the thread that ends the wait wakes it (src/scheduler/README.md, "Waits").
//
// An internal interface beside job.hpp and source.hpp.
#pragma once

#include <teff/detail/platform/durations.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <mutex>

namespace teff::detail {

class scheduler;
class source;
struct task_slot;

// The runtime whose worker the calling thread is, and that worker's index; null and 0 on other threads.
struct worker_id {
  scheduler* runtime = nullptr;
  unsigned index = 0;
};
[[nodiscard]] worker_id this_worker() noexcept;

// A callable without arguments that outlives this.
template <class Result>
class callable_ref {
 public:
  template <std::invocable F>
  callable_ref(const F& f) noexcept  // any callable is one
      : what_(&f), call_([](const void* what) -> Result { return (*static_cast<const F*>(what))(); }) {}
  Result operator()() const { return call_(what_); }

 private:
  const void* what_;
  Result (*call_)(const void*);
};
using action = callable_ref<void>;
using condition = callable_ref<bool>;  // whether something has happened

// The awaited thing, which decides the work that the worker runs meanwhile.
enum class waits : std::uint8_t {
  at_top,         // nothing lies on its stack: for any work
  for_its_tasks,  // for tasks that it has spawned
  for_others,     // for something that it has not spawned
  as_guest,       // only as long as it finds work of `from`, or jobs for this worker alone; runs nothing else
  blocked,        // runs nothing; the thread that ends the wait calls published_to()
};
struct while_waiting {
  waits how = waits::for_others;
  // The source whose work it runs first. With it, a worker in the middle of many activities runs no other
  // source's work that another worker may do. So the wait must end by work of this source, and by work that
  // is done meanwhile by the workers that wait for it.
  source* from = nullptr;
  const task_slot* slot = nullptr;  // a stolen slot: it runs work of the thief first
};
// On a worker: returns when `done()`.
void wait_until(condition done, const while_waiting& how = {}) noexcept;

// On a worker: calls sleep(), which puts the thread to sleep until another process, for example, wakes it.
// Nothing else runs on the worker meanwhile.
void sleep_by(action sleep) noexcept;

// So long a thread that is no worker looks for something before it sleeps.
inline constexpr std::chrono::microseconds short_wait{10};

// The end of something, for which one thread waits.
class awaited_end {
 public:
  explicit awaited_end(worker_id waiter = {}) noexcept : waiter_(waiter) {}
  // Before another thread knows of it: it has not come, and this worker is going to wait, or no worker.
  void begin(worker_id waiter) noexcept {
    waiter_ = waiter;
    word_.store(not_yet, std::memory_order_relaxed);
  }
  // The calling thread is going to bring it itself, so that nobody waits.
  void begin_here() noexcept { word_.store(has_ended, std::memory_order_relaxed); }
  // seq_cst: the last look of a worker that is about to sleep, against come(). Acquire: all that was done
  // before.
  [[nodiscard]] bool has_come() const noexcept { return word_.load(std::memory_order_seq_cst) == has_ended; }
  // Returns when it has come. The waiter calls it. A worker runs other work meanwhile, another thread looks
  // for so long and then sleeps.
  void wait(std::chrono::microseconds patience = short_wait) noexcept;
  // The object and the waiter's runtime may be gone when this returns.
  void come() noexcept;

 private:
  friend class waiters;
  void sleep() noexcept;

  static constexpr std::uint32_t not_yet = 0;
  static constexpr std::uint32_t has_ended = 1;
  static constexpr std::uint32_t not_yet_and_asleep = 2;  // the waiter, which is no worker
  std::atomic<std::uint32_t> word_{not_yet};
  worker_id waiter_;
};

// Threads that wait for something that the work of a source brings about.
//
// A thread that brings the awaited thing about stores that first, then asks any(), then calls wake().
// A thread that waits enters the list first, then looks. All of this is seq_cst: one of the two sees the
// other.
class waiters {
 public:
  explicit waiters(scheduler& runtime) noexcept : runtime_(runtime) {}

  // Returns when done(). A worker of the runtime runs work meanwhile, work of `awaited` first. Any other
  // thread sleeps; if it is a spare thread, another spare thread takes its place.
  void wait_until(condition done, source& awaited) noexcept;

  // Whether any thread waits. seq_cst: pairs with the store in wait_until().
  [[nodiscard]] bool any() const noexcept { return first_.load(std::memory_order_seq_cst) != nullptr; }
  // Has all of them look again.
  void wake() noexcept;

 private:
  struct listed;

  scheduler& runtime_;
  std::mutex mutex_;  // guards what the list holds
  std::atomic<listed*> first_{nullptr};
};

}  // namespace teff::detail
