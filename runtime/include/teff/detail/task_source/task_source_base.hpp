// The part of a task source that does not depend on the type of its tasks: it finds out when it has come to
// rest, wakes the threads that wait for that, and keeps the first error.
#pragma once

#include <teff/detail/ready/ready_tasks.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/waiting.hpp>
#include <teff/detail/task_source/recycled_memory.hpp>
#include <teff/detail/task_source/rest.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <vector>

namespace teff::detail {

// A task that any worker may run, or end.
inline constexpr unsigned any_worker = ~0U;

// The task whose body runs, and its end if a handle holds that.
struct running_task {
  runnable* task;
  held_end<>* held = nullptr;
  bool ends = false;  // its body has returned
};

// The state that one worker keeps of a source. The worker alone uses it, with two exceptions: thieves use a
// part of `ready`, and the thread in the worker's place uses the tasks of that place. A source's own state of
// a worker derives from it.
struct source_worker {
  source_worker(unsigned worker, bool is_alone) noexcept : index(worker), alone(is_alone), ready(worker) {}

  // Whether a task that any worker might run may be kept to run next: a body makes it ready, or it came alone
  // from outside.
  [[nodiscard]] bool keeps_next() const noexcept { return running != nullptr || runs_what_it_receives; }
  // Items that it has taken: messages, ends that were held, shared tasks.
  [[nodiscard]] std::uint64_t items() const noexcept { return items_received + ready.shared_taken(); }

  static constexpr std::uint64_t no_place = ~std::uint64_t{0};  // nor is it any_worker

  const unsigned index;
  std::uint64_t inside = no_place;  // or `index`, while the worker is in its own place
  const bool alone;                 // the source's only worker
  ready_tasks ready;                // the queues
  running_task* running = nullptr;  // the innermost
  std::uint64_t items_received = 0;
  bool runs_what_it_receives = false;
  bool steps_out = false;  // of its place, for the length of a body
};

// The name of a closure (name_of()) as a person reads it.
[[nodiscard]] std::string name_in_words(std::string name);

class task_source_base : public source {
 public:
  // `name`: of the source, for errors. It outlives the source.
  task_source_base(scheduler& runtime, unsigned workers, const char* name);

  // Returns when the source has come to rest; then throws what went wrong.
  void wait();
  // Drops the tasks that have not begun, and waits for those that run. Says on stderr that there were some;
  // of a source that has failed or was cancelled, which error no wait() has thrown.
  void abandon_if_unfinished() noexcept;
  [[nodiscard]] scheduler& runtime() const noexcept { return runtime_; }
  [[nodiscard]] bool has_runtime() const noexcept { return life_->load(std::memory_order_relaxed); }
  // `call`: the function that is to use the runtime, in words. Throws runtime_was_shut_down if that has been
  // destroyed.
  void expect_runtime(const char* call) const {
    if (!has_runtime()) [[unlikely]]
      refuse_without_runtime(call);
  }
  [[nodiscard]] unsigned workers() const noexcept { return static_cast<unsigned>(accounts_.size()); }

  // A handle for the end of the task whose body the calling thread runs; null if it runs none of this source.
  // Throws std::bad_alloc, not_replayable.
  [[nodiscard]] virtual held_end<>* hold_end() = 0;
  // A handle lets go of the end of a task. Any thread. Afterwards the source may be gone.
  static void release(held_end<>& held) noexcept;
  // wait() throws the first error. From then on no body is called until wait() has thrown it.
  void fail(std::exception_ptr error) noexcept;

  // A task of this source that runs on the calling worker and has not ended, in words; empty: there is none.
  [[nodiscard]] virtual std::string running_task_on(unsigned worker) const = 0;

  // For a source that is a part of something larger, which others may bring back to work.

  // Whether nothing goes on any more (src/task_source/rest.md).
  [[nodiscard]] bool at_rest() const noexcept { return items_left(accounts_, begun_outside_) == 0; }
  // Whether nothing goes on until threads release ends that they hold. A hint, which is right when the
  // workers have found nothing to do.
  [[nodiscard]] bool waits_for_held_ends() const noexcept {
    std::int64_t held = 0;
    for (const auto& each : accounts_) held += each.held.load(std::memory_order_relaxed);
    return items_left(accounts_, begun_outside_) == static_cast<std::uint64_t>(held);
  }
  // Of a source that rests: how many tasks wait for something; and what went wrong, if anything.
  [[nodiscard]] std::uint64_t tasks_left() const noexcept;
  [[nodiscard]] std::exception_ptr failure() noexcept;
  // From now on each worker that finds the source at rest calls told(whom), again and again. Set before the
  // source is attached.
  void tell_of_rest(void (*told)(void* whom) noexcept, void* whom) noexcept;

 protected:
  [[nodiscard]] task_account<>& account(unsigned worker) noexcept { return accounts_[worker]; }
  // An item that comes from outside the workers.
  void begin_outside() noexcept { begun_outside_.fetch_add(1, std::memory_order_relaxed); }

  // On the thread of the body of `running`, on this worker: one more handle holds the task's end. Throws
  // std::bad_alloc.
  [[nodiscard]] held_end<>& hold(running_task& running, unsigned worker, unsigned ends_on);
  // Tasks and ends on their way to that worker, or to any_worker.
  [[nodiscard]] inbox<runnable, &runnable::next_in_line>& inbox_of(unsigned worker) noexcept {
    return worker == any_worker ? inbox_ : accounts_[worker].received;
  }
  // Leaves an item, which has begun, in that inbox. Afterwards the source may be gone, but not its runtime.
  void give(runnable& item, unsigned worker) noexcept;

  // No body is called any more, in a child process.
  void begin_child() noexcept override { cancelled_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept { return cancelled_.load(std::memory_order_relaxed); }

  // Whether worker `worker` has nothing to do here. It asks this first. So its looks at a graph that rests
  // leave the cache lines to a thread that is about to use the graph. any() is seq_cst, and comes after
  // order_before_look(): a thread that began to wait before is seen here, or sees what has ended. A listener
  // for rest is told again and again.
  [[nodiscard]] bool is_quiet(unsigned worker) const noexcept {
    return accounts_[worker].has_looked && told_of_rest_ == nullptr && !waiters_.any() && at_rest();
  }
  // Worker `worker` has found nothing to do, so all that it took has ended. If the source is at rest, wakes
  // the threads that wait for that.
  void look_for_rest(unsigned worker) noexcept;

  // Whether the runtime's workers may have other sources to look at. A hint.
  [[nodiscard]] bool is_one_of_several() const noexcept;

  // ---- Places: the tables of each worker (src/task_source/places.md) ----

  // Whether places are preferences: a worker that finds nothing to do takes the tasks out of the place of a
  // worker that does not get to them. Not by default. Before the first task.
  void share_places(bool shares) noexcept {
    // Relaxed: until then a worker looks at the source, and finds nothing.
    shares_places_.store(shares && workers() > 1, std::memory_order_relaxed);
  }
  [[nodiscard]] bool shares_places() const noexcept { return shares_places_.load(std::memory_order_relaxed); }
  // On worker `worker`, which finds nothing to do: whether there is work in the places of workers that do not
  // get to it. If there was none, it says so for some microseconds without a look. `takes`: the worker is in
  // its own place, and makes that work any worker's.
  [[nodiscard]] bool sees_left_behind(unsigned worker, bool takes) noexcept {
    return shares_places() && look_around(worker, takes);
  }
  // For these, of a source that shares its places. The caller is in the place.
  [[nodiscard]] virtual bool has_work(unsigned /*place*/) noexcept { return false; }
  virtual void take_from(unsigned /*place*/, unsigned /*worker*/) noexcept {}
  // Another thread may have the core.
  static void give_way() noexcept;
  // From enter_all() to leave_all() no worker is in its place. Of a source at rest.
  void enter_all() noexcept;
  void leave_all() noexcept;

  // `call`: the function that would wait, in words. Throws graph_waits_for_itself.
  [[noreturn]] void refuse_to_wait_for_ever(const std::string& call) const;

  // Forgets the tasks that wait for something, when the source is at rest. If `named`, returns an error that
  // names some of them, and throws std::bad_alloc; else, and if there were none, returns null.
  virtual std::exception_ptr forget_waiting(bool named) = 0;

 private:
  // Of a source at rest.
  [[nodiscard]] bool nothing_left() const noexcept { return tasks_left() == 0 && !cancelled(); }
  void hand_over(held_end<>& held) noexcept;
  [[nodiscard]] bool is_left_behind(unsigned place, std::int64_t now) const noexcept;
  [[nodiscard]] bool look_around(unsigned worker, bool takes) noexcept;
  void drop_what_is_left() noexcept;
  void wait_for_rest();
  [[nodiscard]] bool help_as_guest();
  void wait_for_rest_on(unsigned worker);
  [[noreturn, gnu::cold]] static void refuse_without_runtime(const std::string& call);
  std::exception_ptr outcome();
  std::exception_ptr end_of_wait(std::uint64_t ticket);
  std::exception_ptr take_error() noexcept;

  scheduler& runtime_;
  const runtime_life life_;
  const char* const name_;
  std::vector<task_account<>, recycling_allocator<task_account<>>> accounts_;
  void (*told_of_rest_)(void* whom) noexcept = nullptr;
  void* whom_ = nullptr;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> shares_places_{false};
  alignas(64) std::atomic<std::uint64_t> begun_outside_{0};
  inbox<runnable, &runnable::next_in_line> inbox_;  // for any worker
  waiters waiters_;
  std::mutex mutex_;  // guards what follows
  std::exception_ptr error_;

  std::mutex ending_;  // guards what follows; held while the tasks left are forgotten
  std::uint64_t next_ticket_ = 0;
  std::uint64_t waits_ = 0;  // calls in progress
  // How the source ended when it last ended badly, and which calls of wait() had begun by then.
  std::exception_ptr outcome_;
  std::uint64_t outcome_of_those_below_ = 0;
};

// Holds the end of the task whose body the calling thread runs. `call`: the public function, in words. Throws
// misuse if it runs none, not_replayable, std::bad_alloc.
[[nodiscard]] held_end<>& hold_end_here(const char* call);

}  // namespace teff::detail
