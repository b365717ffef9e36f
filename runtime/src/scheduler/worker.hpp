// A worker: how it finds something to do, and the thread that is the worker: its own, or a guest (guests.md).
// Its parts have headers of their own: its deque, its stacks, its view of the sources, its log.
#pragma once

#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/waiting.hpp>
#include <teff/runtime.hpp>

#include "platform/futex.hpp"
#include "platform/own_thread.hpp"
#include "scheduler/activities.hpp"
#include "scheduler/idle_gate.hpp"
#include "scheduler/job_queue.hpp"
#include "scheduler/search_pace.hpp"
#include "scheduler/sources.hpp"
#include "scheduler/this_thread.hpp"
#include "scheduler/worker_deque.hpp"
#include "scheduler/worker_log.hpp"
#include "scheduler/worker_stack.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace teff::detail {

class scheduler;

// Defined by fork_join. Runs a slot that the calling worker stole; then the tasks that it left in the
// worker's deque.
void run_stolen_slot(stolen_record<task_slot, scope_state>& kept, task_slot& stolen) noexcept;
// Defined by fork_join. The worker is about to begin something else than a stolen task: tells the scope whose
// stolen tasks have ended.
void tell_scope(stolen_record<task_slot, scope_state>& kept) noexcept;

class worker {
 public:
  // `ring`: null unless the runtime is traced. Throws std::system_error if the memory of the deque can't be
  // had.
  worker(scheduler& all, unsigned index, std::size_t stack_size, trace_ring* ring);

  // Starts the thread; it announces itself to the scheduler before it looks for work. Throws
  // std::system_error.
  void start(std::size_t stack_size) {
    thread_.start([this] { main(); }, stack_size);
  }
  void join() noexcept { thread_.join(); }

  // ---- A guest: a thread that has entered worker 0 by the gate ----

  // The calling thread's deque is the worker's from now on. Part of entering (idle_gate::enter()).
  void begin_guest() noexcept;
  // After entering with a promise: another worker is to wake in time.
  void hand_over_time() noexcept;
  // Runs the job on the stack for guests. False: that can't be had.
  [[nodiscard]] bool run_as_guest(job& job) noexcept;
  // When this returns the worker is another's.
  void end_guest() noexcept;

  // The worker that the calling thread is; null on other threads.
  [[nodiscard]] static worker* current() noexcept { return this_thread.is_worker; }
  // In a child process of fork(), on its only thread, before this_thread begins anew: leaves what a worker
  // has (forks.md). Returns whether it was one.
  static bool begin_child() noexcept;
  // The worker that the calling thread is; where a task has returned to the scheduler in a child process that
  // it has forked, that process ends.
  [[nodiscard]] static worker& current_or_end() noexcept;

  // ---- Its waits (worker_loop.cpp) ----

  // Returns when `done()`, or as a guest has nothing to do.
  void wait_until(condition done, const while_waiting& how) noexcept;
  friend void sleep_by(action sleep) noexcept;

  // ---- What it runs (worker_steal.cpp) ----

  // Runs some work of this source. Returns whether there was any.
  bool run_source(source& each, may_run limit) noexcept;
  friend void run_as_activity(const void* of, action body) noexcept;
  friend void look_outside() noexcept;
  friend bool makes_way_for_request() noexcept;
  // Whether a source has made way for a request, and the worker has not looked at requests since.
  [[nodiscard]] bool request_is_due() const noexcept { return request_is_due_; }
  [[nodiscard]] bool has_room_for_foreign_tasks() const noexcept { return stack_.has_room(); }
  [[nodiscard]] stolen_record<task_slot, scope_state>& stolen() noexcept { return stolen_; }

  // ---- How it wakes others (worker_park.cpp) ----

  // Wakes a sleeper for work that has just become public, unless somebody searches.
  void published() noexcept;
  friend void wake_owner(const task_slot* slot) noexcept;
  friend bool shares_without_wake() noexcept;

  // ---- What other threads ask ----

  [[nodiscard]] scheduler& all() const noexcept { return all_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] worker_deque& deque() noexcept { return deque_; }
  [[nodiscard]] job_queue& inbox() noexcept { return inbox_; }
  [[nodiscard]] class activities& activities() noexcept { return activities_; }
  // Whether it searches or sleeps. A hint.
  [[nodiscard]] bool is_idle() const noexcept { return log_.idle.is_running(); }
  [[nodiscard]] counters counted() const noexcept;
  // Of the thread that is the worker: core_share::capacity(). That thread calls it.
  void publish_capacity(double capacity) noexcept;

  // Filled in by the scheduler: the others.
  std::vector<worker*> victims;

 private:
  struct waiting;

  void main() noexcept;

  // The loop.
  [[nodiscard]] may_run may_run_now() const noexcept;
  [[nodiscard]] may_run may_run_in(const while_waiting& how) const noexcept;
  [[nodiscard]] search_pace::clock::duration patience_of(waits how) const noexcept;
  [[nodiscard]] bool look_further(waiting& mine) noexcept;
  void begin_search(waiting& mine) noexcept;
  void look_around(waiting& mine) noexcept;
  void lend_requests(waiting& mine, polled_source::poll_time now) noexcept;
  [[nodiscard]] bool is_counted_on(waiting& mine) noexcept;
  void give_way_on_shared_core() noexcept;
  void keep_to_own_processor() const noexcept;

  // What it finds and runs.
  bool run_something(waiting& mine) noexcept;
  bool run_sources(may_run limit, bool& searching) noexcept;
  bool run_job_of(job_queue& queue, bool& searching) noexcept;
  [[nodiscard]] bool leaves_request_to_another(bool searching) noexcept;
  void run_job(job& job) noexcept;
  worker* thief_of(const task_slot* awaited) const noexcept;
  task_slot* steal_from(worker& victim) noexcept;
  task_slot* steal_from_anyone(const waiting& mine, worker*& victim) noexcept;
  task_slot* take_oldest_of_own() noexcept;
  void run_stolen(worker& victim, task_slot& slot) noexcept;
  void tell_scope_of_ended_tasks() noexcept {
    if (stolen_.ended != 0) tell_scope(stolen_);
  }

  // How it searches, parks, and wakes others.
  void start_search(bool& searching) noexcept;
  void stop_search(bool& searching) noexcept;
  void hand_over() noexcept;
  void ask_everyone() noexcept;
  void park(waiting& mine) noexcept;
  template <class LastLook, class Sleep>
  void park_by_name(LastLook last_look, Sleep sleep) noexcept;
  [[nodiscard]] bool last_look(const waiting& mine) noexcept;
  void lend_core() const noexcept;
  [[nodiscard]] pid_t thread_off_core() const noexcept;
  // The private tasks of others are passed over; count as work; or are exposed.
  enum class private_tasks : std::uint8_t { pass_over, count, expose };
  [[nodiscard]] bool sees_work(may_run limit, private_tasks treatment,
                               const task_slot* awaited = nullptr) noexcept;
  bool sees_tasks(private_tasks treatment) noexcept;
  [[nodiscard]] bool guests_last_look(bool others_idle) noexcept;
  // Returns whether a time or a bell woke it.
  bool sleep(wake_for what, waits how, polled_source::poll_time deadline = futex::never,
             const doorbells& also = {}) noexcept;

  scheduler& all_;
  const unsigned index_;
  unsigned word_;  // of the gate, on which the thread sleeps that is the worker
  worker_deque deque_;
  worker_stack stack_;
  source_view sources_;
  worker_log log_;
  own_thread thread_;
  job_queue inbox_;
  class activities activities_;
  stolen_record<task_slot, scope_state> stolen_;
  spin_patience patience_;
  std::uint64_t random_;
  const worker* last_victim_ = nullptr;
  unsigned kept_blocks_ = 0;  // how often shares_without_wake() has said no since it said yes
  unsigned tasks_at_top_ = 0;
  bool request_is_due_ = false;
  // The kernel's number of the thread that is the worker, if that shares its core with another program.
  std::atomic<pid_t> thread_on_shared_core_{0};
};

// A wait of a worker: its end, its limits, and how far its search has come.
struct worker::waiting {
  const condition done;
  const while_waiting how;
  const may_run limit;
  search_pace pace;
  bool searching = false;
  bool ran_source = false;  // it has run work of a source
  unsigned fruitless = 0;   // looks in vain since it ran something
  // When it first slept, of the times that it slept and found nothing.
  std::optional<search_pace::clock::time_point> sleeps_since;
  // When requests are lent that it sees and may not run.
  search_pace::clock::time_point lends_at = search_pace::clock::time_point::max();
};

}  // namespace teff::detail
