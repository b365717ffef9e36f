// A worker: a thread, its deque, and how it finds something to do.
#pragma once

#include <teff/detail/fork_join/scope_state.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/runtime.hpp>

#include "scheduler/activities.hpp"
#include "scheduler/idle_gate.hpp"
#include "scheduler/job_queue.hpp"
#include "scheduler/nearest_first.hpp"
#include "scheduler/slot_array.hpp"
#include "scheduler/sources.hpp"
#include "scheduler/stolen_tasks.hpp"
#include "scheduler/worker_counters.hpp"
#include "trace/trace.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace teff::detail {

class scheduler;

// What a waiting worker may run (README, "Waiting within an activity").
enum class may_run : std::uint8_t {
  awaited_thief,  // what the thief of the awaited slot has in its deque
  sources,        // besides, work of sources, tasks that belong to activities, and this worker's own jobs
  everything,     // besides, jobs for any worker, and any tasks
};

class worker {
 public:
  // `ring`: null unless the runtime is traced. Throws std::system_error if the memory of the deque can't be
  // had.
  worker(scheduler& all, unsigned index, std::size_t stack_size, trace_ring* ring);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // Starts the thread; it announces itself to the scheduler before it looks for work. Throws
  // std::system_error.
  void start(std::size_t stack_size);
  void join() noexcept;

  // The worker that the calling thread is; null on other threads.
  [[nodiscard]] static worker* current() noexcept { return current_; }
  // In a child process of fork(), on its only thread: if that was a worker, it is none any more (forks.md).
  static void begin_child() noexcept;

  // Runs other tasks on the calling worker, work of sources at least, until `done(what)`.
  static void help_until(bool (*done)(const void*), const void* what) noexcept;
  // Spins, then sleeps on the calling worker until `done(what)`.
  static void block_until(bool (*done)(const void*), const void* what) noexcept;

  // Runs other tasks until `pending` is 0.
  void wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept;
  // Runs other tasks until the thief of this slot has ended.
  void wait_for_thief(task_slot& slot) noexcept;
  // Wakes a sleeper for work that has just become public, unless somebody searches.
  void published() noexcept;
  void wake_owner(const task_slot* slot) noexcept;
  void ended(scope_state& scope) noexcept { stolen_.ended(scope); }

  [[nodiscard]] scheduler& all() const noexcept { return all_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] bool owns(const task_slot* slot) const noexcept { return slots_.owns(slot); }
  [[nodiscard]] local_deque& deque() const noexcept { return *deque_; }
  [[nodiscard]] job_queue& inbox() noexcept { return inbox_; }
  [[nodiscard]] class activities& activities() noexcept { return activities_; }
  // Whether it sleeps, or is about to, and may be woken for work of sources, but not for any other.
  [[nodiscard]] bool sleeps_for_sources() const noexcept {
    return sleeps_for_sources_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] counters counted() const noexcept;

  // Filled in by the scheduler: the others.
  nearest_first<worker*> victims;

 private:
  // Initial-exec, as `self`.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local worker* current_;

  // The worker that the calling thread is; where a task has returned to the scheduler in a child process that
  // it has forked, that process ends.
  [[nodiscard]] static worker& current_or_leave() noexcept;

  static void* thread_main(void* self) noexcept;
  void main() noexcept;
  void work_until_stopped() noexcept;
  template <class Done>
  void work_until(Done done, may_run limit, const task_slot* awaited) noexcept;
  [[nodiscard]] may_run may_run_now() const noexcept;
  bool run_something(may_run limit, const task_slot* awaited, bool& searching) noexcept;
  task_slot* steal_from_anyone(worker*& victim) noexcept;
  bool run_job_of(job_queue& queue, bool& searching) noexcept;
  void run_stolen(worker& victim, task_slot& slot) noexcept;
  void run_job(job& job) noexcept;
  task_slot* steal_from(worker& victim) noexcept;
  worker* thief_of(const task_slot* awaited) const noexcept;
  void start_search(bool& searching) noexcept;
  void stop_search(bool& searching) noexcept;
  bool sleep(wake_for what, source::poll_time deadline) noexcept;
  void record_instant(event_kind what, const worker* other = nullptr) noexcept;
  void woke_one() noexcept;
  void hand_over() noexcept;
  void ask_everyone() noexcept;
  bool expose_anything() noexcept;
  [[nodiscard]] bool sees_source_work() noexcept;
  [[nodiscard]] bool sees_work() noexcept;
  void refresh_sources() noexcept;
  [[nodiscard]] source::poll_time next_poll() const noexcept;
  void poll_sources(source::poll_time now) noexcept;
  bool run_sources(bool& searching) noexcept;
  void spin_until(bool (*done)(const void*), const void* what) noexcept;
  template <class Done>
  bool park(Done& done, may_run limit, const task_slot* awaited) noexcept;
  template <class Done>
  [[nodiscard]] bool finds_reason_to_stay_awake(Done& done, may_run limit, const task_slot* awaited) noexcept;
  [[nodiscard]] bool has_room_for_foreign_tasks() const noexcept;

  scheduler& all_;
  const unsigned index_;
  slot_array slots_;
  local_deque* deque_ = nullptr;  // in the thread's own storage
  job_queue inbox_;
  source_list sources_;  // as of `sources_version_`
  std::uint64_t sources_version_ = 0;
  const std::byte* stack_middle_ = nullptr;
  std::uint64_t random_;
  const worker* last_victim_ = nullptr;
  class activities activities_;
  std::atomic<bool> sleeps_for_sources_{false};
  stolen_tasks<calling_worker> stolen_;
  pthread_t thread_{};
  trace_ring* const ring_;
  worker_counter jobs_, steals_, failed_steals_, exposures_, shares_, parks_, wakes_;
  worker_stopwatch idle_, parked_;  // what is parked is idle, too
};

}  // namespace teff::detail
