// A worker: its deque, how it finds something to do, and the thread that is the worker: its own, or a guest
// (guests.md).
#pragma once

#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/runtime.hpp>

#include "platform/call_stack.hpp"
#include "platform/futex.hpp"
#include "platform/own_thread.hpp"
#include "platform/stack_overflow.hpp"
#include "scheduler/activities.hpp"
#include "scheduler/idle_gate.hpp"
#include "scheduler/job_queue.hpp"
#include "scheduler/nearest_first.hpp"
#include "scheduler/slot_array.hpp"
#include "scheduler/sources.hpp"
#include "scheduler/spin_patience.hpp"
#include "scheduler/worker_counters.hpp"
#include "trace/trace.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace teff::detail {

class scheduler;

// The work that a waiting worker may run (README, "Waiting within an activity").
enum class may_run : std::uint8_t {
  awaited_thief,  // what the thief of the awaited slot has in its deque
  own_work,       // work of the awaited source; of others, and of jobs, what no other worker may do
  sources,        // besides, work of sources, tasks that belong to activities, and this worker's own jobs
  everything,     // besides, jobs for any worker, and any tasks
};

// The place at which a waiting worker looks first.
struct awaited_work {
  const task_slot* slot = nullptr;  // the stolen slot that it waits for
  source* from = nullptr;           // the source whose work it waits for
};

// Defined by fork_join. Runs a slot that the calling worker stole; then the tasks that it left in the
// worker's deque.
void run_stolen_slot(stolen_record<task_slot, scope_state>& kept, task_slot& stolen) noexcept;
// The same: the worker is about to begin something else than a stolen task. Tells the scope whose stolen
// tasks have ended.
void tell_scope(stolen_record<task_slot, scope_state>& kept) noexcept;

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

  // ---- A guest: a thread that has entered worker 0 by the gate ----

  // The calling thread's deque is the worker's from now on. Part of entering (idle_gate::enter()).
  void begin_guest() noexcept;
  // After entering with a promise: another worker is to wake in time.
  void hand_over_time() noexcept;
  // Runs the job on the stack for guests. False: that can't be had.
  [[nodiscard]] bool run_as_guest(job& job) noexcept;
  // When this returns the worker is another's.
  void end_guest() noexcept;
  // After no deque of the calling thread is this worker's any more, and every thread has executed a fence:
  // returns when this worker, as a thief, has done with what it found before.
  void wait_until_it_looked() const noexcept;

  // The worker that the calling thread is; null on other threads.
  [[nodiscard]] static worker* current() noexcept { return current_; }
  // In a child process of fork(), on its only thread: if that was a worker, it is none any more (forks.md).
  // Returns whether it was.
  static bool begin_child() noexcept;
  // The worker that the calling thread is; where a task has returned to the scheduler in a child process that
  // it has forked, that process ends.
  [[nodiscard]] static worker& current_or_leave() noexcept;

  // Runs other tasks on the calling worker, work of sources at least, until `done(what)`: source.hpp.
  static void help_until(bool (*done)(const void*), const void* what, source* awaited) noexcept;
  // Runs work of this source, and nothing that might wait for what the calling thread does next, until
  // `done(what)`, or until it has found none for as long as a worker looks before it parks.
  static void help_while_there_is_work(bool (*done)(const void*), const void* what, source& from) noexcept;
  // The same for jobs that are submitted to the calling worker.
  static void run_own_jobs_until(bool (*done)(const void*), const void* what) noexcept;
  // Runs some work of this source. Returns whether there was any.
  bool run_source(source& each, may_run limit) noexcept;
  // Spins, then sleeps on the calling worker until `done(what)`.
  static void block_until(bool (*done)(const void*), const void* what) noexcept;
  // As detail::sleep_by().
  static void sleep_by(void (*wait)(void*) noexcept, void* what) noexcept;

  // Runs other tasks until `pending` is 0.
  void wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept;
  // Runs other tasks until the thief of this slot has ended.
  void wait_for_thief(task_slot& slot) noexcept;
  // Wakes a sleeper for work that has just become public, unless somebody searches.
  void published() noexcept;
  void wake_owner(const task_slot* slot) noexcept;
  [[nodiscard]] bool shares_without_wake() noexcept;
  [[nodiscard]] stolen_record<task_slot, scope_state>& stolen() noexcept { return stolen_; }
  // The worker is between two steps of its task: if something came from outside that nobody else has taken
  // up, runs it on top of the task, or has a spare thread run it.
  void look_outside() noexcept;
  // As the free function.
  [[nodiscard]] bool makes_way_for_request() noexcept;
  // Whether a source has made way for a request, and the worker has not looked at requests since.
  [[nodiscard]] bool request_is_due() const noexcept { return request_is_due_; }
  // As detail::run_as_activity().
  void run_as_activity(const void* of, void (*body)(void*) noexcept, void* what) noexcept;
  [[nodiscard]] bool has_room_for_foreign_tasks() const noexcept;
  // Whether it searches or sleeps. A hint.
  [[nodiscard]] bool is_idle() const noexcept { return idle_.is_running(); }

  [[nodiscard]] scheduler& all() const noexcept { return all_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] bool owns(const task_slot* slot) const noexcept { return slots_.owns(slot); }
  // In the storage of the thread that is the worker: other workers use it within a `look` (guests.md).
  [[nodiscard]] local_deque& deque() const noexcept { return *deque_.load(std::memory_order_acquire); }
  // The calling thread's own deque becomes one for this worker's slots. Nobody else knows it.
  void open_deque() noexcept;
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
  void tell_scope_of_ended_tasks() noexcept {
    if (stolen_.ended != 0) tell_scope(stolen_);
  }
  // Initial-exec, as `self`.
  [[gnu::tls_model("initial-exec")]] static constinit thread_local worker* current_;

  // From here to the end of the block the worker looks at others' deques.
  class look {
   public:
    explicit look(worker& me) noexcept;
    ~look();
    look(const look&) = delete;
    look& operator=(const look&) = delete;

   private:
    std::atomic<std::uint32_t>& looks_;
  };
  // At the top, the worker has nothing on its stack.
  enum class waits : bool { within_task, at_top };
  struct waiting;

  // The calling thread's deque is told of this worker, while the thread is that worker; and is told no more.
  void man_deque() noexcept;
  static void leave_deque() noexcept;
  void main() noexcept;
  void work_until_stopped() noexcept;
  template <class Done>
  void work_until(Done done, may_run limit, awaited_work awaited, waits where = waits::within_task) noexcept;
  void look_further(waiting& mine) noexcept;
  void announce_what_sources_left() noexcept;
  void begin_search(waiting& mine) noexcept;
  void leave_shared_core() noexcept;
  [[nodiscard]] bool is_counted_on(waiting& mine) noexcept;
  void look_around(waiting& mine) noexcept;
  void lend_requests(waiting& mine, polled_source::poll_time now) noexcept;
  void park(waiting& mine) noexcept;
  [[nodiscard]] bool finds_reason_to_stay_awake(const waiting& mine) noexcept;
  [[nodiscard]] may_run may_run_now() const noexcept;
  bool run_something(waiting& mine) noexcept;
  task_slot* steal_from_anyone(const waiting& mine, worker*& victim) noexcept;
  task_slot* take_oldest_of_own() noexcept;
  bool run_job_of(job_queue& queue, bool& searching) noexcept;
  void run_stolen(worker& victim, task_slot& slot) noexcept;
  void run_job(job& job) noexcept;
  task_slot* steal_from(worker& victim) noexcept;
  worker* thief_of(const task_slot* awaited) const noexcept;
  void start_search(bool& searching) noexcept;
  void stop_search(bool& searching) noexcept;
  enum class woken_by : bool { another, time_or_bell };
  woken_by sleep(wake_for what, polled_source::poll_time deadline, waits where,
                 const doorbells& also = {}) noexcept;
  void record_instant(event_kind what, const worker* other = nullptr) noexcept;
  void woke_one() noexcept;
  void hand_over() noexcept;
  void ask_everyone() noexcept;
  bool expose_anything() noexcept;
  [[nodiscard]] bool sees_private_work() noexcept;
  [[nodiscard]] bool finds_reason_to_call_home(bool others_idle) noexcept;
  [[nodiscard]] bool sees_source_work(may_run limit) noexcept;
  [[nodiscard]] bool sees_work_of(source& each, may_run limit) noexcept;
  [[nodiscard]] bool sees_work() noexcept;
  // Calls visit(source) for each that is to be polled, until it says true; returns whether it did.
  bool any_polled(auto visit) noexcept;
  [[nodiscard]] polled_source::poll_time next_poll() noexcept;
  // To the bells of all sources. False: they are too many to sleep on.
  bool listen(doorbells& bells) noexcept;
  // It is awake: a bell would wake its own thread in vain.
  void rise() noexcept;
  void poll_sources(polled_source::poll_time now) noexcept;
  bool run_awaited(source& awaited, bool& searching) noexcept;
  enum class found : std::uint8_t { nothing, left_alone, work };
  found run_sources(may_run limit, bool& searching) noexcept;
  void keep_to_own_processor() const noexcept;
  void spin_until(bool (*done)(const void*), const void* what) noexcept;

  scheduler& all_;
  const unsigned index_;
  unsigned word_;                // of the gate, on which the thread sleeps that is the worker
  const std::uint32_t sleeper_;  // to bells
  slot_array slots_;
  std::atomic<local_deque*> deque_{nullptr};  // in the storage of the thread that is the worker
  local_deque* own_deque_ = nullptr;          // in the storage of the worker's thread
  std::atomic<std::uint32_t> looks_{0};       // at others' deques; odd: one is in progress
  job_queue inbox_;
  std::size_t next_source_ = 0;            // where it looks first
  std::int64_t next_look_at_sources_ = 0;  // while it searches, by the processor's clock
  const std::byte* stack_middle_ = nullptr;
  const std::byte* own_stack_middle_ = nullptr;
  // The stack of a guest, and the line that is printed if it overflows.
  struct guest_stack {
    guest_stack(std::size_t size, unsigned worker);
    call_stack calls;
    stack_overflow_line line;
  };
  std::optional<guest_stack> guest_stack_;  // made by the first guest
  std::uint64_t random_;
  const worker* last_victim_ = nullptr;
  unsigned kept_blocks_ = 0;  // how often shares_without_wake() has said no since it said yes
  class activities activities_;
  std::atomic<bool> sleeps_for_sources_{false};
  stolen_record<task_slot, scope_state> stolen_;
  spin_patience patience_;
  unsigned tasks_at_top_ = 0;
  bool request_is_due_ = false;
  own_thread thread_;
  trace_ring* const ring_;
  worker_counter jobs_, steals_, failed_steals_, exposures_, shares_, parks_, wakes_;
  worker_stopwatch idle_, parked_;  // what is parked is idle, too
};

}  // namespace teff::detail
