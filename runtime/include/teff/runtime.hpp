// runtime: the workers that tasks run on.
//
//   teff::runtime rt;
//   const long f = rt.run([] { return fib(30); });  // fib() may join, fork, spawn and loop
//
// - A runtime starts its workers, which are threads, when it is made. It ends them in shutdown(), which the
//   destructor calls.
// - run(f) calls f() on a worker and returns when f has ended. It returns what f returns, or throws what f
//   throws. The calling thread takes part: for the length of the call it is a worker in the place of one
//   whose own thread sleeps.
// - submit(f) has a worker call f(), and returns at once a future of what f returns (future.hpp).
// - Tasks that f makes with the other headers run on the workers of the same runtime. On a thread that is no
//   worker, they run on the workers of default_runtime().
#pragma once

#include <teff/detail/platform/durations.hpp>
#include <teff/detail/private_access.hpp>
#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/run_call.hpp>
#include <teff/error.hpp>
#include <teff/future.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace teff {

// The version of these headers, as 10000 * major + 100 * minor + patch: 100 is 0.1.0.
inline constexpr int version_number = 100;
// The version of the library that the program is linked with, as "0.1.0".
//
//   std::printf("libteff %s\n", teff::version());
[[nodiscard]] const char* version() noexcept;

// How a runtime is set up. An option that is left at its default is read from its environment variable, if
// that is set. The constructor throws invalid_option for an option that it can't honour. The error names the
// option or variable, its value, and the values that it may have.
struct runtime_options {
  // Worker threads. 0: TEFF_WORKERS, else one for every core this process may use (affinity, cgroup quota).
  unsigned workers = 0;
  // Whether each worker keeps to a hardware thread: first one worker to each core, then others to the cores'
  // further hyperthreads. The worker's affinity mask stays the process's, so a thread or process that a task
  // begins may use all of that. The system may move the worker, which goes back where it would share a
  // hardware thread with another worker. No worker keeps to one if there are more workers than hardware
  // threads, nor in a process that an MPI has started beside others on the same cores. TEFF_BIND=0 always
  // turns it off; 1 is its only other value.
  bool bind = true;
  // Bytes of stack of each worker. The stack is reserved, and takes memory only as it is used. 0:
  // TEFF_STACK_SIZE, else 256 MiB. A worker, or a thread in its place, that uses up more ends the process by
  // SIGSEGV, as any thread does, and first says so on standard error.
  std::size_t stack_size = 0;
  // How long a worker looks for work before it parks, a year at most: then it never does. Negative:
  // TEFF_SPIN_US, else 50 us, and up to 1 ms for a worker that is woken again and again, soon after it has
  // parked.
  std::chrono::microseconds spin{-1};
  // The file that a trace of the workers is written to at shutdown, for Perfetto. Empty: TEFF_TRACE, else
  // none. "%p" in it becomes the process's number; a process's second traced runtime adds ".2" before the
  // suffix. The ranks of a job write to rank 0's file, all of them.
  std::string trace{};
  // How many events each worker keeps for the trace: its last ones, of 32 bytes each. 0: TEFF_TRACE_EVENTS,
  // else 262144.
  std::size_t trace_events = 0;
  // Threads beside the workers, at most: for what blocking() is given, and for requests that no worker may
  // run while it waits. They are made when needed. 0: TEFF_SPARE_THREADS, else 256.
  unsigned spare_threads = 0;
};

// Counts of events on the workers of a runtime since it began. Exact when no task runs, but for `jobs`: a
// request that a thread runs itself while it waits for it may count twice, or not at all.
//
// Counting costs nothing for a task that is not stolen. So the workers count tasks themselves only for a
// trace.
struct counters {
  std::uint64_t jobs = 0;           // calls of run() from outside, and what other ways in submitted
  std::uint64_t steals = 0;         // tasks taken from another worker's deque
  std::uint64_t failed_steals = 0;  // attempts that found nothing, or lost the race
  std::uint64_t exposures = 0;      // looks at another worker's private tasks, each with a membarrier
  std::uint64_t shares = 0;         // times a worker made private tasks public
  std::uint64_t parks = 0;          // times a worker went to sleep, or a caller left it asleep
  std::uint64_t wakes = 0;          // times a worker woke another
  // Time that workers have spent without a task, up to now.
  std::chrono::nanoseconds searching{0};
  std::chrono::nanoseconds parked{0};
  // The worker's share of its core, of about the last tenth of a second in which its thread was ready to run.
  // The worker measures it between tasks. 1: it has seen no other program on the core. The sum over all
  // workers says how many cores they have had.
  double capacity = 0;
  // With a trace only, else 0: tasks spawned (the second closure of a join, tasks of scopes and graphs, parts
  // of loops), and tasks run. The two are equal when all tasks have ended, except for tasks that were dropped
  // because another one threw.
  std::uint64_t spawned = 0;
  std::uint64_t tasks = 0;

  counters& operator+=(const counters& other) noexcept;
};

// A set of workers. Several can live in one process; each has its own threads. To make one and to end it
// takes some milliseconds, most of them to read what the machine looks like: keep it.
//
//   teff::runtime rt;
//   long f = rt.run([] { return fib(30); });
class runtime {
 public:
  // Starts the workers. Throws invalid_option, std::system_error if a thread can't be had.
  explicit runtime(const runtime_options& = {});
  // As shutdown(). If one of the workers calls it, the workers live on until the process ends, and write no
  // trace. So a task may call exit(), which destroys a static runtime, and the exit code stays.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  // Runs f() on a worker; returns its value or throws its exception. Any thread may call it, and several may
  // at once. If a worker is out of work, the calling thread takes its place for the length of the call. f
  // then runs on the calling thread, on a stack as large as the workers'. While f waits for its tasks, that
  // thread may run other tasks of this runtime, but no request as long as another worker is free. If all
  // workers are busy, the calling thread sleeps until one of them has run f. If all wait, as in blocking(), a
  // spare thread runs f, in order. A worker or spare thread of this runtime runs f itself, at once. A worker
  // of another runtime runs other tasks of that runtime meanwhile. Throws runtime_was_shut_down.
  //
  // C++ ends the process if a thread is cancelled (pthread_cancel) while it is in a call of libteff, or if a
  // task calls pthread_exit. A thread that others may cancel disables that for the length of the call, by
  // pthread_setcancelstate.
  template <class F>
  std::invoke_result_t<F&&> run(F&& f);

  // Has a worker call f() and returns at once. The future has f's value, or its exception, when f has ended.
  // Any thread may call it. Requests begin in the order of their submission, as soon as a worker is free. A
  // busy worker begins one between two of its tasks, or blocks of a loop, and goes on after it. While all
  // workers are in the middle of other requests, a spare thread may call f. There joins, scopes and loops run
  // in order. The runtime copies or moves f, and destroys it before the future is ready. A worker that wants
  // a value whose request has not begun runs it itself. Throws runtime_was_shut_down, std::bad_alloc, and
  // what moving or copying f throws.
  //
  //   teff::future<int> answer = rt.submit([=] { return price(order); });
  //   ...
  //   reply(answer.get());
  template <class F>
  auto submit(F&& f) -> future<std::invoke_result_t<std::decay_t<F>>>;
  // The same; but if stop was requested before f begins, f is not called and get() throws request_stopped.
  // The token, a std::stop_token, may be f's argument, to end early if stop is requested while f runs.
  template <detail::stop_token Token, class F>
  auto submit(Token token, F&& f) -> future<detail::stoppable_result<Token, std::decay_t<F>>>;

  // Waits for the calls of run() that are in progress, and for all that was submitted; then ends the workers.
  // These calls may still submit more and wait for it. May be called again. Throws misuse if called by one of
  // the workers.
  void shutdown();

  [[nodiscard]] unsigned workers() const noexcept;
  [[nodiscard]] teff::counters counters() const noexcept;
  // The counters of one worker. Throws misuse if there is no such worker.
  [[nodiscard]] teff::counters counters(unsigned worker) const;

 private:
  friend struct detail::private_access;
  [[nodiscard]] detail::scheduler& internals() noexcept { return *scheduler_; }

  std::unique_ptr<detail::scheduler, void (*)(detail::scheduler*) noexcept> scheduler_;
};

// The runtime that the other headers use on threads that are no workers. It is made when it is used
// first, with the options' defaults and the environment's TEFF_*, and shut down when the process exits. If
// calls of run() are in progress then, it is left as it is. After that, as in the destructors of static
// objects, the calling thread runs all tasks itself, in order. Throws what the constructor throws.
//
//   teff::parallel_for(0, n, body);  // in main: as teff::default_runtime().run([&] { the same; })
//
// If the workers are busy with the loop of another thread, a loop waits until one of them is free. Threads
// that loop side by side need a runtime each. Each thread then calls run() of its runtime.
[[nodiscard]] runtime& default_runtime();

// The index of the worker that the calling thread is, in [0, workers()); nothing on a thread that is no
// worker.
[[nodiscard]] inline std::optional<unsigned> worker_index() noexcept {
  const auto here = detail::this_worker();
  return here.runtime == nullptr ? std::nullopt : std::optional(here.index);
}

template <class F>
auto runtime::submit(F&& f) -> future<std::invoke_result_t<std::decay_t<F>>> {
  return detail::submitted_to(*scheduler_, std::decay_t<F>(std::forward<F>(f)));
}

template <detail::stop_token Token, class F>
auto runtime::submit(Token token, F&& f) -> future<detail::stoppable_result<Token, std::decay_t<F>>> {
  return detail::submitted_to(
      *scheduler_, detail::stoppable<Token, std::decay_t<F>>(std::move(token), std::forward<F>(f)));
}

template <class F>
std::invoke_result_t<F&&> runtime::run(F&& f) {
  if (detail::works_for(*scheduler_)) return std::forward<F>(f)();
  detail::call<F> call(f);
  detail::run_and_wait(*scheduler_, call);
  return static_cast<std::invoke_result_t<F&&>>(call.take());
}

}  // namespace teff
