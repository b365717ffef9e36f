// flow: each task names the memory that it reads and writes, so a program reads as a sequential one.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/flow_body.hpp>
#include <teff/detail/flow/flow_core.hpp>
#include <teff/detail/flow/flow_recording.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include <array>
#include <atomic>
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
  // The number of the worker that runs the task, modulo the number of workers. Nothing: any worker. Two cases
  // ignore it: the flow is checked, or a body makes a ready task while more than 4096 tasks are outstanding.
  std::optional<unsigned> place{};
};

// Tasks of a flow that have run once, and can run again at hardly any cost a task. record() has found which
// tasks wait for which.
//
// - A replay calls the same bodies again, on the workers that ran them. The result is as if the program made
//   the tasks again, in the same order, once an iteration. Iterations overlap as far as the accesses allow.
//   A body that counts its calls knows the iteration.
// - A runtime runs one replay at a time. No other task of the flow may touch the same memory meanwhile.
// - The memory that the tasks name must outlive the recording, and so must the runtime. The flow need not.
class flow_recording {
 public:
  // Returns when all iterations have ended. Throws the first exception of a body, and the workers begin no
  // further body then. Throws not_replayable if a body makes a task of the flow. Throws
  // runtime_was_shut_down.
  void replay(std::uint64_t times = 1) { all_->replay(times); }
  // How many tasks an iteration has.
  [[nodiscard]] std::size_t tasks() const noexcept { return all_->tasks(); }

 private:
  friend class flow;
  explicit flow_recording(std::unique_ptr<detail::flow_recording> all) : all_(std::move(all)) {}
  std::unique_ptr<detail::flow_recording> all_;
};

// Tasks that name the memory which they read and write. Two tasks are dependent if they share memory that
// either of them writes. A task begins when the tasks that were made before it, and on which it depends, have
// ended. So the result is that of the same program in which each task runs where it is made.
//
//   teff::flow f{rt};
//   for (int step = 0; step < steps; ++step)
//     for (int i = 1; i < blocks - 1; ++i)
//       f.task(teff::in(x[i - 1]), teff::in(x[i + 1]), teff::inout(x[i]), [&, i] { relax(i); });
//   f.wait();
//
// - One thread at a time makes the tasks of a flow, and waits.
// - A body may make inner tasks. They wait for each other only, and their task ends when they all have. They
//   may touch the memory that their task names, and memory that belongs to their task alone.
// - task() may run this or other tasks before it returns. The worker of a runtime with one worker runs each
//   ready task at once. Otherwise the thread runs tasks when more than 4096 bodies are outstanding. So a
//   program may make any number of tasks in bounded memory.
// - A runtime outlives its flows, and the memory that a task names outlives the task.
// - If a body throws, tasks that have not begun are dropped, and wait() throws the first exception.
class flow {
 public:
  explicit flow(runtime& rt)
      : core_(std::make_shared<detail::flow_core>(detail::private_access::internals(rt), rt.workers())) {
    detail::attach(detail::private_access::internals(rt), core_);
  }
  // If tasks are left, says so on stderr. It drops the tasks that have not begun, and waits for the others. A
  // task of the flow may not destroy it: that ends the program, with graph_waits_for_itself.
  ~flow() {
    core_->abandon_if_unfinished();
    if (core_->has_runtime()) detail::detach(core_->runtime(), *core_);
  }
  flow(const flow&) = delete;
  flow& operator=(const flow&) = delete;

  // Makes a task. `what` are its accesses, or ranges of accesses, and last its body. The flow copies or moves
  // the body, calls it on a worker, and destroys it when the task has ended. The arguments of the body are
  // the private copies of its reductions, in their order.
  //
  //   f.task(teff::in(a), teff::inout(b), [&] { b += a; });
  //   f.task(std::span<const teff::access>(list), teff::out(c), [&] { ... });  // a list known at run time
  //
  // Throws misuse if an access overlaps a reduction of the same task. Throws not_replayable if the body of a
  // replayed task calls it. Throws runtime_was_shut_down, std::bad_alloc, and what copying the body throws.
  template <class... What>
    requires(sizeof...(What) != 0 &&
             !std::same_as<std::remove_cvref_t<detail::first_of<What...>>, task_options>)
  void task(What&&... what) {
    task(task_options{}, std::forward<What>(what)...);
  }
  template <class... What>
    requires(sizeof...(What) != 0)
  void task(const task_options& how, What&&... what) {
    make(how, std::forward_as_tuple(std::forward<What>(what)...),
         std::make_index_sequence<sizeof...(What) - 1>());
  }

  // Returns when all tasks have ended. A worker that waits runs tasks meanwhile, the tasks of this flow
  // first. Another thread that waits takes part as a worker if it can. Throws the first exception of a body.
  // The program can use the flow again afterwards. Throws misuse if a task of the flow calls it. Throws
  // graph_waits_for_itself if it could never return, and runtime_was_shut_down.
  void wait() {
    expect_outside("teff::flow::wait");
    if (core_->checker != nullptr) core_->checker->forget();
    core_->wait();
  }
  // Returns when a task with these accesses could begin. Tasks that touch other memory may still run. Throws
  // as wait(), but leaves the exceptions of bodies to wait(). Throws not_replayable while the flow is
  // recorded.
  template <class... Accesses>
    requires(sizeof...(Accesses) != 0)
  void wait(Accesses&&... accesses) {
    expect_outside("teff::flow::wait");
    if (core_->recorded != nullptr) [[unlikely]]
      detail::throw_error(
          not_replayable("teff::flow::wait: called for some accesses while the flow is recorded: a "
                         "replay has tasks only; wait after record() has returned"));
    std::atomic<bool> begun{false};
    auto* const core = core_.get();
    struct telling {
      std::atomic<bool>* begun;
      detail::flow_core* core;
      ~telling() {
        if (begun == nullptr) return;
        begun->store(true, std::memory_order_seq_cst);  // before the look for waiters
        core->wake_helpers();
      }
      telling(std::atomic<bool>* to_set, detail::flow_core* of) : begun(to_set), core(of) {}
      telling(telling&& other) noexcept : begun(std::exchange(other.begun, nullptr)), core(other.core) {}
      void operator()() const noexcept {}  // the destructor tells, as the task may be dropped
    };
    std::optional<detail::call_in_progress> call;
    if (detail::here().runtime != &core->runtime()) call.emplace(core->runtime());
    task(std::forward<Accesses>(accesses)..., telling(&begun, core));
    core->help_until([](const void* what) { return static_cast<const std::atomic<bool>*>(what)->load(); },
                     &begun);
  }

  // Calls make(), runs the tasks that it makes, and returns them as a recording when they have ended. Throws
  // not_replayable if a body of these tasks makes tasks. Throws what make() and wait() throw. A flow that is
  // checked records no tasks.
  //
  //   auto step = f.record([&] {
  //     for (int i = 0; i < n; ++i) f.task(teff::inout(x[i]), [&, i] { relax(i); });
  //   });
  //   step.replay(99);
  template <class Make>
    requires std::is_invocable_v<Make&>
  [[nodiscard]] flow_recording record(Make&& make) {
    wait();
    auto all = std::make_unique<detail::flow_recording>(core_);
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
  // flow checks it. The check covers all memory that tasks have named since the last wait(). It fails if a
  // body changes a byte of it that the task does not name as written. It fails if an inner task names memory
  // that its task does not name. wait() then throws misuse with the task, the address and the way out.
  //
  // The check is slow: it copies that memory before each body, and compares it afterwards. It finds no
  // undeclared read, and no write to memory that no task has named.
  void check(bool on) {
    wait();
    core_->checker = on ? std::make_unique<detail::flow_checker>() : nullptr;
  }

  // Until wait() has returned, the flow drops the tasks that have not begun, and the tasks made later.
  void cancel() noexcept { core_->fail(nullptr); }

 private:
  void expect_outside(const char* call) const {
    if (core_->is_within()) [[unlikely]]
      detail::refuse_within_task(call);
  }

  template <class Tuple, std::size_t... Index>
  void make(const task_options& how, Tuple&& what, std::index_sequence<Index...> /*accesses*/) {
    auto closure =
        detail::kept_body(std::get<sizeof...(Index)>(std::forward<Tuple>(what)), std::get<Index>(what)...);
    if constexpr ((std::same_as<std::remove_cvref_t<std::tuple_element_t<Index, std::remove_cvref_t<Tuple>>>,
                                access> &&
                   ...)) {
      const std::array<access, sizeof...(Index)> all{std::get<Index>(what)...};
      submit(how, std::span<const access>(all), std::move(closure));
    } else {
      std::vector<access> all;
      (detail::append_access(all, std::get<Index>(what)), ...);
      submit(how, std::span<const access>(all), std::move(closure));
    }
  }
  template <class Closure>
  void submit(const task_options& how, std::span<const access> accesses, Closure&& closure) {
    static_assert(alignof(Closure) <= 64, "the closure of a task of a flow has an alignment of 64 at most");
    core_->expect_runtime("teff::flow::task");
    std::size_t ranges = 0;
    for (const auto& each : accesses) ranges += each.rows;
    const auto by = core_->here();
    auto& task = core_->make(by, ranges, sizeof(Closure), alignof(Closure));
    detail::undo_if_thrown(
        [&] { std::construct_at(static_cast<Closure*>(task.closure), std::move(closure)); },
        [&] { detail::flow_core::drop(by, task); });
    task.body = &Closure::body;
    task.priority = how.priority;
    if (how.place) task.place = *how.place;
    if (core_->checker != nullptr) [[unlikely]]
      return core_->run_checked(by, task, accesses);
    core_->submit(by, task, accesses);
  }

  std::shared_ptr<detail::flow_core> core_;
};

}  // namespace teff
