// The state of a scope, and how its tasks lie in their slots.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/fork_join/join_task.hpp>
#include <teff/detail/fork_join/outside_tasks.hpp>
#include <teff/detail/fork_join/scope_tasks.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

namespace teff::detail {

// The worker that calls, for scope_tasks.
struct calling_worker {
  using slot = task_slot;
  using scope = scope_state;
  using outside = outside_tasks;
  template <class T>
  using atomic = std::atomic<T>;
  template <class T>
  using plain = T;

  static local_deque& own() noexcept { return self; }
  // The scope whose task is, or was, in the slot.
  static scope_state* scope_of(task_slot& slot) noexcept { return stored<scope_state*>(slot); }
  // The newest slot, which a scope pushed: takes it if it was not stolen.
  [[nodiscard]] static bool take_back(task_slot* slot) noexcept { return detail::take_back(slot); }
  // Answers a thief that asks, though nothing is to be pushed. Runs a request that waits.
  static void answer_request() noexcept;
  // Answers a thief that asks, and runs a request that waits, on a worker that has taken the newest slot,
  // which a scope pushed. False: now the slot is stolen.
  [[nodiscard, gnu::cold]] static bool answer_holding(task_slot* taken) noexcept;
  static void share() noexcept { detail::share(); }
  static void wake_owner(const task_slot* slot) noexcept { detail::wake_owner(slot); }
  // A task of this scope has ended on the calling worker, a thief. The scope is told together
  // with the thief's next ones, or when the thief begins something else.
  static void ended_on_thief(scope_state& scope) noexcept;
  // Runs other tasks until `pending` is 0.
  static void wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept;
  static void yield() noexcept;
};

// All of teff::scope but its public contract. `Worker`: as scope_tasks.
template <class Worker>
class basic_scope : public scope_tasks<Worker> {
  using tasks = scope_tasks<Worker>;
  using slot = typename Worker::slot;
  using scope = typename Worker::scope;

 public:
  // Runs `task` unless the scope is cancelled, and keeps what it throws.
  template <class F>
  void execute(F& task) noexcept {
    catch_all(
        [&] {
          const auto flags = flags_.load(std::memory_order_relaxed);
          if (flags != 0) [[unlikely]] {
            if ((flags & cancelled_flag) == 0) execute_traced<std::decay_t<F>>(std::move(task));
            return;
          }
          task();
        },
        [this] { fail(std::current_exception()); });
  }

 protected:
  basic_scope() noexcept
      : outer_(std::exchange(Worker::own().innermost, static_cast<scope*>(this))),
        flags_(static_cast<std::uint8_t>(Worker::own().watched())) {}
  ~basic_scope() { Worker::own().innermost = outer_; }

  template <class F>
  void spawn(F&& task) {
    auto* const at = Worker::own().head();
    // In this order: `top_` is the owner's alone.
    if (!is_innermost() || at != this->top_) [[unlikely]]
      return spawn_slowly<std::decay_t<F>>(std::forward<F>(task));
    if (at < this->window_end_) {
      put(at, std::forward<F>(task));
      this->top_ = at + 1;
      if (Worker::own().asked()) [[unlikely]]
        Worker::share();
    } else {
      if (Worker::own().asked() || at == nullptr) [[unlikely]]
        return spawn_slowly<std::decay_t<F>>(std::forward<F>(task));
      execute(task);
    }
  }

  void wait() {
    // In this order, as above.
    if (!is_innermost() || !end_quickly()) [[unlikely]]
      end_and_throw();
  }

  // Before the destructor: as wait(), if there is something to wait for. `exceptions`: how many were in
  // flight when the scope began.
  void close(unsigned exceptions) {
    if (unfinished()) close_slowly(exceptions);
  }

  void cancel() noexcept { flags_.fetch_or(cancelled_flag, std::memory_order_relaxed); }
  [[nodiscard]] bool cancelled() const noexcept {
    return (flags_.load(std::memory_order_relaxed) & cancelled_flag) != 0;
  }

 private:
  // Of the scopes that the calling worker made and that live, the last one.
  [[nodiscard]] bool is_innermost() const noexcept { return Worker::own().innermost == this; }

  // Pushes the task as one of this scope. By value in the slow case, so that the quick one need not keep the
  // closure in memory. The processor would stall there: it would write the closure's parts one by one and
  // read them at once.
  template <class F>
  void put(slot* at, F&& task) {
    fill(at, std::forward<F>(task));
    Worker::own().push(at);
  }
  template <class F>
  void fill(slot* at, F&& task);
  template <class F>
  [[gnu::noinline]] void spawn_slowly(F task) {
    if (this->base_ == nullptr) return spawn_outside(task);
    scope* const host = this->find_host();
    if (host == nullptr) {
      if (auto* const ring = ring_here()) record_spawn(*ring);
      return execute(task);
    }
    this->push_into(*host, [&](slot* at) { put(at, std::move(task)); });
    if (Worker::own().asked()) Worker::share();
  }
  // Of a scope outside the workers. Any thread may call it.
  template <class F>
  void spawn_outside(F& task) {
    // The tasks are traced, if the worker that runs them is; and the end is not a quick one.
    flags_.fetch_or(local_deque::watch, std::memory_order_relaxed);
    const auto fill_slot = [&](slot* at) { fill(at, std::move(task)); };
    if (!outside().spawn(static_cast<scope*>(this), fill_slot)) execute(task);
  }
  [[nodiscard, gnu::noinline]] typename Worker::outside& outside() {
    // Acquire: the constructor, with the release of the thread that was quicker.
    auto* found = outside_.load(std::memory_order_acquire);
    if (found != nullptr) return *found;
    auto mine = std::make_unique<typename Worker::outside>();
    return outside_.compare_exchange_strong(found, mine.get(), std::memory_order_acq_rel) ? *mine.release()
                                                                                          : *found;
  }

  [[nodiscard]] bool unfinished() const noexcept {
    return this->has_tasks() || flags_.load(std::memory_order_relaxed) != 0;
  }

  [[nodiscard]] bool end_quickly() noexcept {
    return tasks::end_quickly() && flags_.load(std::memory_order_relaxed) == 0;
  }

  // Runs or waits for all tasks; returns the first exception and forgets it. Throws misuse where
  // refuse_to_wait() says.
  std::exception_ptr end();
  [[gnu::noinline]] void end_and_throw() {
    if (auto error = end()) std::rethrow_exception(std::move(error));
  }
  [[gnu::noinline]] void close_slowly(unsigned exceptions) {
    const bool unwinding = exceptions_in_flight() > exceptions;
    if (unwinding) cancel();
    if (end_quickly()) return;
    auto error = end();
    if (error && !unwinding) std::rethrow_exception(std::move(error));
  }

  // execute() where the task is traced. By value, for the reason that spawn_slowly() has.
  template <class F>
  [[gnu::noinline]] void execute_traced(F task) noexcept {
    const traced_span span(event_kind::task, name_of<F>());
    catch_all(task, [this] { fail(std::current_exception()); });
  }
  [[gnu::noinline]] void fail(std::exception_ptr error) noexcept {
    // Relaxed: `error_` reaches its reader through `pending_`, or because the owner itself ran the task.
    const auto before = flags_.fetch_or(cancelled_flag | failed_flag, std::memory_order_relaxed);
    if ((before & failed_flag) == 0) error_ = std::move(error);
  }

  scope* const outer_;
  std::atomic<typename Worker::outside*> outside_{nullptr};  // its tasks, if it was made outside the workers
  // One byte: a task asks by one load whether the scope is cancelled and whether tasks are traced.
  static constexpr std::uint8_t cancelled_flag = 1;
  static constexpr std::uint8_t failed_flag = 4;
  static_assert(cancelled_flag != local_deque::watch);  // the other flag
  typename Worker::template atomic<std::uint8_t> flags_;
  // The thread that set failed_flag writes it; the owner reads it after `pending_` is 0.
  typename Worker::template plain<std::exception_ptr> error_{};
};

// Throws misuse: the waiter would wait for itself, or for tasks that lie below what it has pushed since; or a
// younger scope has its part above, which would no longer begin at the head.
[[noreturn, gnu::cold]] void refuse_to_wait();

template <class Worker>
std::exception_ptr basic_scope<Worker>::end() {
  // Acquire: as the failed exchange in outside().
  auto* const outside = outside_.load(std::memory_order_acquire);
  if (this->base_ != nullptr || outside != nullptr) {
    if (!is_innermost() || Worker::own().head() != this->top_) refuse_to_wait();
    if (outside != nullptr) {
      outside->wait();
      delete outside_.exchange(nullptr,
                               std::memory_order_relaxed);  // no task is left that spawns another one
    } else {
      this->end_tasks();
    }
  }
  flags_.fetch_and(local_deque::watch, std::memory_order_relaxed);
  return std::exchange(error_, nullptr);
}

// A scope's task in its slot. The task leaves the slot before it runs, so that the slot can be used again.
template <class F, class Worker>
struct spawned {
  using slot = typename Worker::slot;
  using scope = typename Worker::scope;

  scope* of;
  F task;

  static void run(slot& at, const scope* by) noexcept {
    auto* const of = stored<spawned>(at).of;
    {
      auto task = move_out(stored<spawned>(at).task);
      // Release: the move, to the acquire in all_moved_out().
      if (by == thief<scope>) at.state.store(slot_state::moved_out, std::memory_order_release);
      of->execute(task);
    }
    of->ended(by);
  }
};

// A task too large for a slot, or whose move may throw.
template <class F>
struct boxed {
  std::unique_ptr<F> task;
  void operator()() { (*task)(); }
  static const char* task_name() noexcept { return name_of<F>(); }
};

template <class Worker>
template <class F>
void basic_scope<Worker>::fill(slot* at, F&& task) {
  using closure = std::decay_t<F>;
  using kept = spawned<closure, Worker>;
  if constexpr (fits_a_slot<kept> && std::is_nothrow_constructible_v<closure, F>) {
    new (at->data) kept{static_cast<scope*>(this), std::forward<F>(task)};
    at->run = &kept::run;
  } else {
    fill(at, boxed<closure>{std::make_unique<closure>(std::forward<F>(task))});
  }
}

// A scope of a worker's, or of another thread's.
class scope_state : public basic_scope<calling_worker> {};

extern template class scope_tasks<calling_worker>;
extern template class basic_scope<calling_worker>;

}  // namespace teff::detail
