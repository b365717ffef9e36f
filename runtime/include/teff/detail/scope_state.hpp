// What a scope keeps, and how its tasks lie in their slots.
#pragma once

#include <teff/detail/join_task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

namespace teff::detail {

// How many tasks of one scope wait in the deque at most; a spawn beyond runs at once. Enough that thieves
// live on it while the spawner runs tasks, little enough to stay in the first-level cache.
inline constexpr int scope_window = 256;

class scope_state {
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

  // Tasks that were not run by the scope's own end have ended. The scope may be gone when this returns.
  void complete(std::int64_t tasks) noexcept {
    const auto* const owners_slot = base_;
    // Release: what the tasks did, to the acquire in end(). seq_cst: before the look whether the waiter
    // sleeps (README, "Waiting for a task").
    pending_.fetch_sub(tasks, std::memory_order_seq_cst);
    wake_owner(owners_slot);
  }

 protected:
  scope_state() noexcept
      : base_(self.head()),
        top_(base_),
        window_end_(self.scope_limit - base_ < scope_window ? self.scope_limit : base_ + scope_window),
        outer_(std::exchange(self.innermost, this)),
        flags_(static_cast<std::uint8_t>(self.watched())) {}
  ~scope_state() { self.innermost = outer_; }

  // Pushes the task as one of this scope. By value in the slow case, so that the quick one need not keep the
  // closure in memory, whose parts would be written one by one and read at once, which stalls.
  template <class F>
  void put(task_slot* slot, F&& task);
  template <class F>
  [[gnu::cold, gnu::noinline]] void spawn_slowly(F task);

  [[nodiscard]] bool unfinished() const noexcept {
    // Acquire: as in end(), which is not called if all tasks ran in other scopes' parts and have ended.
    return top_ != base_ || left_ != 0 || pending_.load(std::memory_order_acquire) != 0 ||
           flags_.load(std::memory_order_relaxed) != 0;
  }

  // Runs what has not been stolen, newest first. Returns whether that was everything.
  bool run_newest_first() noexcept {
    while (top_ != base_) {
      auto* const slot = top_ - 1;
      if (!self.take(slot)) [[unlikely]] {
        if (!take_back(slot)) return false;
      }
      top_ = slot;
      slot->run(*slot, this);
    }
    return true;
  }

  [[nodiscard]] bool end_quickly() noexcept {
    // Acquire: as in end().
    return self.head() == top_ && run_newest_first() && left_ == 0 &&
           pending_.load(std::memory_order_acquire) == 0 && flags_.load(std::memory_order_relaxed) == 0;
  }

  // Runs or waits for all tasks; returns the first exception and forgets it. Throws misuse if the caller's
  // tasks lie above this scope's.
  std::exception_ptr end();

  task_slot* const base_;        // the owner's head when the scope began; null outside the workers
  task_slot* top_;               // the owner's head after the last push into this scope's part of the deque
  task_slot* const window_end_;  // which ends below this
  scope_state* const outer_;
  std::int64_t left_ = 0;  // this scope's tasks that were stolen from its own part
  // `left_` once that is final, and tasks in other scopes' parts; less those of them that have ended.
  std::atomic<std::int64_t> pending_{0};
  // One byte, so that whether the scope is cancelled, its tasks' usual question, also tells whether they are
  // traced.
  static constexpr std::uint8_t cancelled_flag = 1;
  static constexpr std::uint8_t failed_flag = 4;
  static_assert(cancelled_flag != lane::watch);  // the other flag
  std::atomic<std::uint8_t> flags_;
  std::exception_ptr error_;  // written by whoever set failed_flag, read after `pending_` is 0

 private:
  friend class worker;

  // As execute(). By value, as spawn_slowly().
  template <class F>
  [[gnu::cold, gnu::noinline]] void execute_traced(F task) noexcept;
  scope_state* find_host() noexcept;
  [[nodiscard]] bool all_moved_out() const noexcept;
  void free_stolen_slots() noexcept;
  void end_as_host() noexcept;
  void fail(std::exception_ptr error) noexcept;
};

// A scope's task in its slot. The task leaves the slot before it runs, so that the slot can be used again.
template <class F>
struct spawned {
  scope_state* scope;
  F task;

  static void run(task_slot& slot, const scope_state* by) noexcept {
    auto* const scope = stored<spawned>(slot).scope;
    {
      auto task = move_out(stored<spawned>(slot).task);
      // Release: the move, to the acquire in recycle().
      if (by == thief) slot.state.store(slot_state::moved_out, std::memory_order_release);
      scope->execute(task);
    }
    if (by == thief) {
      ended_on_thief(*scope);
    } else if (by != scope) {
      scope->complete(1);
    }
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
  // Before the push, from which on a thief may seize the task and end it. Relaxed: the task that spawns is
  // itself one of the pending.
  const bool elsewhere = host != this;
  if (elsewhere) pending_.fetch_add(1, std::memory_order_relaxed);
  auto* const slot = self.head();
  try {
    put(slot, std::move(task));
  } catch (...) {
    if (elsewhere) pending_.fetch_sub(1, std::memory_order_relaxed);
    throw;
  }
  host->top_ = slot + 1;
  if (self.asked()) share();
}

}  // namespace teff::detail
