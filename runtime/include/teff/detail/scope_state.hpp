// What a scope keeps, and how its tasks lie in their slots.
#pragma once

#include <teff/detail/join_task.hpp>
#include <teff/detail/scope_tasks.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace teff::detail {

// The worker that calls, for scope_tasks.
struct calling_worker {
  using slot = task_slot;
  using scope = scope_state;
  template <class T>
  using atomic = std::atomic<T>;

  static lane& own() noexcept { return self; }
  // The scope whose task is, or was, in the slot.
  static scope_state* scope_of(task_slot& slot) noexcept { return stored<scope_state*>(slot); }
  // The newest slot, which a scope pushed: takes it if it was not stolen.
  [[nodiscard]] static bool take_back(task_slot* slot) noexcept;
  // If a thief asks, though nothing is to be pushed: shares what there is, or says that it can have public
  // tasks.
  static void answer_request() noexcept;
  static void wake_owner(const task_slot* slot) noexcept { detail::wake_owner(slot); }
  // A task of this scope has ended on the calling worker, a thief. The scope hears of it with the thief's
  // next ones, or when the thief turns to something else.
  static void ended_on_thief(scope_state& scope) noexcept;
  // Runs other tasks until `pending` is 0.
  static void wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept;
  static void yield() noexcept;
};

class scope_state : public scope_tasks<calling_worker> {
 public:
  // Runs `task` unless the scope is cancelled, and keeps what it throws.
  template <class F>
  void execute(F& task) noexcept {
    const auto flags = flags_.load(std::memory_order_relaxed);
    if (flags != 0) [[unlikely]] {
      if ((flags & cancelled_flag) == 0) execute_traced<std::decay_t<F>>(std::move(task));
      return;
    }
    try {
      task();
    } catch (...) {
      fail(std::current_exception());
    }
  }

 protected:
  scope_state() noexcept
      : outer_(std::exchange(self.innermost, this)), flags_(static_cast<std::uint8_t>(self.watched())) {}
  ~scope_state() { self.innermost = outer_; }

  // Pushes the task as one of this scope. By value in the slow case, so that the quick one need not keep the
  // closure in memory, whose parts would be written one by one and read at once, which stalls.
  template <class F>
  void put(task_slot* slot, F&& task);
  template <class F>
  [[gnu::cold, gnu::noinline]] void spawn_slowly(F task);

  [[nodiscard]] bool unfinished() const noexcept {
    return has_tasks() || flags_.load(std::memory_order_relaxed) != 0;
  }

  [[nodiscard]] bool end_quickly() noexcept {
    return scope_tasks::end_quickly() && flags_.load(std::memory_order_relaxed) == 0;
  }

  // Runs or waits for all tasks; returns the first exception and forgets it. Throws misuse if the caller's
  // tasks lie above this scope's.
  std::exception_ptr end();

  scope_state* const outer_;
  // One byte, so that whether the scope is cancelled, its tasks' usual question, also tells whether they are
  // traced.
  static constexpr std::uint8_t cancelled_flag = 1;
  static constexpr std::uint8_t failed_flag = 4;
  static_assert(cancelled_flag != lane::watch);  // the other flag
  std::atomic<std::uint8_t> flags_;
  std::exception_ptr error_;  // written by whoever set failed_flag, read after `pending_` is 0

 private:
  // As execute(). By value, as spawn_slowly().
  template <class F>
  [[gnu::cold, gnu::noinline]] void execute_traced(F task) noexcept;
  void fail(std::exception_ptr error) noexcept;
};

extern template class scope_tasks<calling_worker>;

// A scope's task in its slot. The task leaves the slot before it runs, so that the slot can be used again.
template <class F>
struct spawned {
  scope_state* scope;
  F task;

  static void run(task_slot& slot, const scope_state* by) noexcept {
    auto* const scope = stored<spawned>(slot).scope;
    {
      auto task = move_out(stored<spawned>(slot).task);
      // Release: the move, to the acquire in all_moved_out().
      if (by == thief<scope_state>) slot.state.store(slot_state::moved_out, std::memory_order_release);
      scope->execute(task);
    }
    scope->ended(by);
  }
};

// A task too large for a slot, or whose move may throw.
template <class F>
struct boxed {
  std::unique_ptr<F> task;
  void operator()() { (*task)(); }
  static const char* task_name() noexcept { return name_of<F>(); }
};

template <class F>
void scope_state::put(task_slot* slot, F&& task) {
  using closure = std::decay_t<F>;
  if constexpr (fits_a_slot<spawned<closure>> && std::is_nothrow_constructible_v<closure, F>) {
    new (slot->data) spawned<closure>{this, std::forward<F>(task)};
    slot->run = &spawned<closure>::run;
    self.push(slot);
  } else {
    put(slot, boxed<closure>{std::make_unique<closure>(std::forward<F>(task))});
  }
}

template <class F>
void scope_state::execute_traced(F task) noexcept {
  const traced_span span(activity::task, name_of<F>());
  try {
    task();
  } catch (...) {
    fail(std::current_exception());
  }
}

template <class F>
void scope_state::spawn_slowly(F task) {
  scope_state* const host = find_host();
  if (host == nullptr) {
    if (auto* const ring = ring_here()) record_spawn(*ring);
    return execute(task);
  }
  push_into(*host, [&](task_slot* slot) { put(slot, std::move(task)); });
  if (self.asked()) share();
}

}  // namespace teff::detail
