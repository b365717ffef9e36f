// flow: each task names the memory that it reads and writes, so a program reads as a sequential one.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/flow_access.hpp>
#include <teff/detail/flow/flow_body.hpp>
#include <teff/detail/flow/flow_loop.hpp>
#include <teff/detail/loops/indices.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff {

// How the library runs a task of a flow.
struct task_options {
  // Of the tasks that are ready on one worker, the one with the highest priority runs first.
  int priority = 0;
  // The number of the worker that runs the task, modulo the number of workers. Nothing: any worker. A flow
  // that is checked ignores it.
  std::optional<unsigned> place{};
};

// How workers share a worksharing task.
struct task_for_options {
  // A worker runs so many iterations at a time at least, but for the last chunk. With 0, the chunks are as
  // long as their cost says.
  std::size_t chunk = 0;
  // As in task_options.
  int priority = 0;
};

// How task_loop() divides a loop.
struct task_loop_options {
  // How many worksharing tasks it makes. It makes fewer if the loop has fewer iterations.
  std::size_t tasks = 1;
  // As in task_for_options.
  std::size_t chunk = 0;
  int priority = 0;
};

// Tasks of a flow that have run once, and can run again at hardly any cost a task. record() has found which
// tasks wait for which.
//
// - A replay calls the same bodies again, on the workers that ran them, and on each in the order of the
//   recorded run. A worker that waits for tasks to which their worker does not get runs them in its place.
//   The result is as if the program made the tasks again, in the order of making, once an
//   iteration. Iterations overlap as far as the accesses allow. A body that counts its calls knows the
//   iteration.
// - A runtime runs one replay at a time. No other task of the flow may touch the same memory meanwhile.
// - The memory that the tasks name must outlive the recording, and so must the runtime. The flow need not.
class flow_recording {
 public:
  // Returns when all iterations have ended. Throws the first exception of a body, and the workers begin no
  // further body then. Throws not_replayable if a body makes a task of the flow. Throws
  // runtime_was_shut_down, and misuse if the recording was moved from.
  void replay(std::uint64_t times = 1) {
    if (all_ == nullptr) [[unlikely]]
      detail::throw_error(
          misuse("teff::flow_recording::replay: this recording was moved from: replay the one that it was "
                 "moved to"));
    all_->replay(times);
  }
  // How many tasks an iteration has; none, of a recording that was moved from.
  [[nodiscard]] std::size_t tasks() const noexcept { return all_ == nullptr ? 0 : all_->tasks(); }

 private:
  friend class flow;
  explicit flow_recording(std::unique_ptr<detail::recorded_tasks> all) : all_(std::move(all)) {}
  std::unique_ptr<detail::recorded_tasks> all_;  // null: moved from
};

// Tasks that name the memory which they read and write. Two tasks are dependent if they share memory that
// either of them writes. A task begins when the tasks that were made before it, and on which it depends, have
// ended. So the result is that of the same program in which each task runs where it is made, if a body leaves
// the memory alone that its inner tasks name once it has made them.
//
//   teff::flow f{rt};
//   for (int step = 0; step < steps; ++step)
//     for (int i = 1; i < blocks - 1; ++i)
//       f.task(teff::in(x[i - 1]), teff::in(x[i + 1]), teff::inout(x[i]), [&, i] { relax(i); });
//   f.wait();
//
// - One thread at a time makes the tasks of a flow, and waits.
// - A body may make inner tasks, on its own thread. They wait for each other only, and their task ends when
//   they all have. They may touch the memory that their task names, and memory that belongs to their task
//   alone, such as its private copies.
// - task() may run this or other tasks before it returns. The worker of a runtime with one worker runs each
//   ready task at once. Otherwise the thread runs tasks when more than 4096 bodies are outstanding. So a
//   program may make any number of tasks in bounded memory. If all of these wait for events, the thread goes
//   on: the tasks that it makes next may cause the events.
// - A runtime outlives its flows, and the memory that a task names outlives the task.
// - If a body throws, tasks that have not begun are dropped, and wait() throws the first exception.
// - If TEFF_WATCHDOG=30 is set when the flow is made, a thread that waits for it reports on stderr every
//   30 s. The report names the tasks that have not ended, and for each the task that holds its memory.
class flow {
 public:
  // Throws invalid_option if TEFF_WATCHDOG is not a number of seconds, and std::bad_alloc.
  explicit flow(runtime& rt)
      : core_(detail::make_flow(detail::private_access::internals(rt), rt.workers())) {}
  // If tasks are left, says so on stderr. It drops the tasks that have not begun, and waits for the others.
  // If a body has thrown an exception that no wait() has thrown, it prints the text of the exception there,
  // too. A task of the flow may not destroy it: that ends the program, with graph_waits_for_itself.
  ~flow() { detail::end_flow(*core_); }
  flow(const flow&) = delete;
  flow& operator=(const flow&) = delete;

  // Makes a task. `what` are its accesses, or ranges of accesses, and last its body. The flow copies or moves
  // the body, calls it on a worker, and destroys it when the task has ended. The arguments of the body are
  // the private copies of its reductions, in their order.
  //
  //   f.task(teff::in(a), teff::inout(b), [&] { b += a; });
  //   f.task(std::span<const teff::access>(list), teff::out(c), [&] { ... });  // a list known at run time
  //
  // Throws misuse if an access overlaps a reduction of the same task. Throws misuse in a part of a body that
  // another thread runs, such as a call of blocking(), an iteration of a loop, or a task of a scope. Throws
  // not_replayable if the body of a replayed task calls it. Throws runtime_was_shut_down if the runtime is
  // gone; after runtime::shutdown() the flow drops the task, and wait() throws that. Throws std::bad_alloc,
  // and what copying the body throws.
  template <class First, class... What>
    requires(!std::same_as<std::remove_cvref_t<First>, task_options>)
  void task(First&& first, What&&... what) {
    task(task_options{}, std::forward<First>(first), std::forward<What>(what)...);
  }
  template <class... What>
    requires(sizeof...(What) != 0)
  void task(const task_options& how, What&&... what) {
    make(how, std::forward_as_tuple(std::forward<What>(what)...),
         std::make_index_sequence<sizeof...(What) - 1>());
  }

  // Makes a worksharing task: one task with these accesses, whose body runs the iterations [first, last) in
  // chunks. All workers that are free run chunks of it. A worker joins or leaves between any two chunks. The
  // task has ended when all chunks have, and the worker that ends the last one releases the tasks that wait.
  //
  //   f.task_for(0, n, teff::in(x), teff::inout(y), [&](teff::range r) {
  //     for (auto i : r) y[i] += a * x[i];
  //   });
  //   f.task_for(0, n, {.chunk = 64}, teff::inout(x), [&](int i) { relax(x[i]); });
  //
  // The body is called as that of parallel_for(), with one iteration or both bounds, or else with a range.
  // The first form that fits counts: a generic body of one argument is called with one iteration. Workers
  // call the same object at the same time. Each worker runs the same part of the range each time, until other
  // workers have run out of iterations and take some of it. A chunk takes about 2 to 100 us, as measured.
  //
  // A reduction gives each worker that runs a chunk a private copy, which the body gets as a last argument.
  // The copies are combined when all chunks have ended. Which worker runs an iteration differs from run to
  // run, and so do the last bits of a sum of floating-point numbers.
  //
  //   f.task_for(0, n, teff::in(x), teff::reduction(sum), [&](int i, double& mine) { mine += x[i]; });
  //
  // If a chunk throws, the flow drops chunks that have not begun, as it drops tasks. A chunk may not make
  // tasks of the flow: that throws misuse. So does a weak access. An empty range makes a task that runs
  // nothing. Throws as task().
  template <loop_integer First, loop_integer Last, class Access, class... What>
    requires(!std::same_as<std::remove_cvref_t<Access>, task_for_options>)
  void task_for(First first, Last last, Access&& access, What&&... what) {
    task_for(first, last, task_for_options{}, std::forward<Access>(access), std::forward<What>(what)...);
  }
  template <loop_integer First, loop_integer Last, class... What>
    requires(sizeof...(What) != 0)
  void task_for(First first, Last last, const task_for_options& how, What&&... what) {
    make(task_options{how.priority, {}}, std::forward_as_tuple(std::forward<What>(what)...),
         std::make_index_sequence<sizeof...(What) - 1>(), range_of(first, last), how.chunk);
  }

  // Divides [first, last) into ranges of equal length, and makes a worksharing task of each. An access may be
  // a function of the range: it returns the access, or a range of accesses, of that task.
  //
  //   f.task_loop(0, n, {.tasks = 8},
  //               [&](teff::range r) { return teff::inout(teff::section(x, r)); },
  //               [&](int i) { relax(x[i]); });
  //
  // Each task has a copy of the body. An empty range makes no task, and calls no function. Throws as
  // task_for().
  template <loop_integer First, loop_integer Last, class... What>
    requires(sizeof...(What) != 0)
  void task_loop(First first, Last last, const task_loop_options& how, What&&... what) {
    const range all = range_of(first, last);
    if (all.size() == 0) return;
    const std::size_t tasks = std::clamp<std::size_t>(how.tasks, 1, all.size());
    const auto length = all.size() / tasks;
    const auto longer = all.size() % tasks;
    for (std::size_t i = 0; i < tasks; ++i) {
      const auto begin = all.first + static_cast<std::ptrdiff_t>(i * length + std::min(i, longer));
      const range some{begin, begin + static_cast<std::ptrdiff_t>(length + (i < longer ? 1 : 0))};
      [&]<std::size_t... Index>(std::index_sequence<Index...>) {
        const auto given = std::forward_as_tuple(what...);
        const auto& body = std::get<sizeof...(Index)>(given);
        task_for(some.first, some.last, task_for_options{how.chunk, how.priority},
                 detail::accesses_of(std::get<Index>(given), some)..., body);
      }(std::make_index_sequence<sizeof...(What) - 1>());
    }
  }

  // Returns when all tasks have ended. A worker that waits runs tasks meanwhile, the tasks of this flow
  // first. Another thread that waits takes part as a worker if it can. Throws the first exception of a body.
  // The program can use the flow again afterwards. Throws graph_waits_for_itself if it could never return,
  // and runtime_was_shut_down.
  //
  // In a body: returns when the inner tasks that the body has made have ended. The worker runs tasks
  // meanwhile, on top of the body. Throws the first exception of a body here, too. Throws misuse if the task
  // has a weak access, since inner tasks may wait then for tasks outside, which may lie below on the same
  // stack. Throws misuse in a chunk of a worksharing task, and where task() does.
  void wait() { detail::wait_for_tasks(*core_); }
  // Returns when a task with these accesses could begin: in a body, an inner one. Tasks that touch other
  // memory may still run. Throws as wait(), but leaves the exceptions of bodies to wait(). Throws
  // not_replayable while the flow is recorded or replayed.
  template <class... Accesses>
    requires(sizeof...(Accesses) != 0)
  void wait(Accesses&&... accesses) {
    static_assert(
        std::same_as<decltype(std::tuple_cat(detail::copies_of<false>(accesses, 1)...)), std::tuple<>>,
        "wait for the result of a reduction by in()");
    with_list([this](std::span<const access> all) { detail::wait_for_accesses(*core_, all); }, accesses...);
  }

  // Calls make(), runs the tasks that it makes, and returns them as a recording when they have ended. Throws
  // not_replayable if a body of these tasks makes tasks, or if the flow is cancelled before all of them have
  // run. Throws misuse if the flow is checked, and if a task of the flow calls it. Throws what
  // make() and wait() throw. All workers run each long worksharing task of a replay.
  //
  //   auto step = f.record([&] {
  //     for (int i = 0; i < n; ++i) f.task(teff::inout(x[i]), [&, i] { relax(i); });
  //   });
  //   step.replay(99);
  template <class Make>
    requires std::is_invocable_v<Make&>
  [[nodiscard]] flow_recording record(Make&& make) {
    auto all = detail::begin_recording(core_);
    std::exception_ptr error;
    const auto keep_first = [&error] {
      if (!error) error = std::current_exception();
    };
    detail::catch_all([&] { make(); }, keep_first);
    detail::catch_all([&] { wait(); }, keep_first);
    all->finish(error != nullptr);
    if (error) std::rethrow_exception(std::move(error));
    return flow_recording(std::move(all));
  }

  // Waits as wait(), and throws as wait(). From then on each task runs where it is made, in order, and the
  // flow checks it. The check covers all memory that tasks have named since the last wait(). If a task breaks
  // its accesses, wait() throws misuse with the task, the address and the way out:
  //
  // - The body changes a byte that the task does not name as written.
  // - The body reads memory that an earlier task names as written, and that its own task does not name. The
  //   check finds this in whole pages of such memory only, so in an array of two pages or more.
  // - An inner task names memory that an earlier task names, and that its own outer task does not name.
  //
  // The check is slow: it copies the memory before each body, and compares it afterwards. It has the system
  // take the access to those pages meanwhile, by mprotect() and a handler of SIGSEGV. So a system call that
  // a body gives such memory fails with EFAULT. The check does not know memory that no task has named.
  //
  // While the check is on, only the thread that makes the tasks may touch memory that they name. If another
  // thread does during a body, the check may name that task for it, or the program may end with SIGSEGV. Have
  // such threads end before check(true), or check a run without them.
  // Throws misuse while the flow is recorded, and if a task of the flow calls it.
  void check(bool on) { detail::check_flow(*core_, on); }

  // Until wait() has returned, the flow drops the tasks that have not begun, and the tasks made later.
  void cancel() noexcept { detail::cancel_flow(*core_); }

 private:
  // `loop`: the range and the least chunk of a worksharing task.
  template <class Tuple, std::size_t... Index, class... Loop>
  void make(const task_options& how, Tuple&& what, std::index_sequence<Index...> /*accesses*/,
            const Loop&... loop) {
    constexpr bool is_loop = sizeof...(Loop) != 0;
    auto&& body = std::get<sizeof...(Index)>(std::forward<Tuple>(what));
    using function = std::decay_t<decltype(body)>;
    static_assert(!std::same_as<function, access>,
                  "the last argument of a task is its body: give a function");
    const unsigned workers = is_loop ? detail::workers_of(*core_) : 1;
    auto copies = std::tuple_cat(detail::copies_of<is_loop>(std::get<Index>(what), workers)...);
    using made = std::conditional_t<is_loop, detail::loop_closure<function, decltype(copies)>,
                                    detail::flow_closure<function, decltype(copies)>>;
    static_assert(alignof(made) <= 64, "the closure of a task of a flow has an alignment of 64 at most");
    with_list(
        [&, workers](std::span<const access> all) {
          const auto begun = detail::begin_task(*core_, made::body, all,
                                                sizeof(made) + workers * made::bytes_a_worker, alignof(made));
          auto& task = *begun.task;
          detail::undo_if_thrown(
              [&] {
                std::construct_at(static_cast<made*>(task.closure), std::forward<decltype(body)>(body),
                                  std::move(copies), task, workers, loop...);
              },
              [&] { detail::drop_task(*core_, begun); });
          task.priority = how.priority;
          if (how.place) task.place = *how.place;
          detail::submit_task(*core_, begun, all);
        },
        std::get<Index>(what)...);
  }
  template <loop_integer First, loop_integer Last>
  static range range_of(First first, Last last) {
    const auto [begin, end] = detail::loop_bounds(first, last, "teff::flow::task_for");
    return {static_cast<std::ptrdiff_t>(begin), static_cast<std::ptrdiff_t>(end)};
  }
  // Calls use() with the accesses as one list.
  template <class Use, class... Accesses>
  static void with_list(Use use, Accesses&&... accesses) {
    if constexpr ((std::same_as<std::remove_cvref_t<Accesses>, access> && ...)) {
      const std::array<access, sizeof...(Accesses)> all{accesses...};
      use(std::span<const access>(all));
    } else if constexpr (sizeof...(Accesses) == 1 &&
                         (std::convertible_to<Accesses, std::span<const access>> && ...)) {
      use(std::span<const access>(accesses...));
    } else {
      std::vector<access> all;
      (detail::append_access(all, accesses), ...);
      use(std::span<const access>(all));
    }
  }
  std::shared_ptr<detail::flow_core> core_;
};

}  // namespace teff
