// Where the tasks of a scope lie, and how its end knows that all of them have ended.
//
// Protocol: src/fork_join/README.md. tests/scope_model_test.cpp checks this
// very code on the interleavings of small programs.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/scheduler/local_deque.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace teff::detail {

// How many tasks of one scope wait in the deque at most; a spawn beyond runs at once. Enough that thieves
// live on it while the spawner runs tasks, little enough to stay in the first-level cache.
inline constexpr int scope_window = 256;

// A scope's part of its owner's deque, and the count of its tasks that are not there.
//
// `Worker` is what is known of the worker that calls: calling_worker, or the checker's stand-in. Its `scope`
// derives from this class.
template <class Worker>
class scope_tasks {
  using slot = typename Worker::slot;
  using scope = typename Worker::scope;

 public:
  // A task of this scope has ended. `by` ran it: a scope at its end, or a thief. This scope may be gone
  // when this returns.
  void ended(const scope* by) noexcept {
    if (by == thief<scope>) {
      Worker::ended_on_thief(static_cast<scope&>(*this));
    } else if (by != this) {
      complete(1);
    }
  }

  // Tasks that were not run by the scope's own end have ended. The scope may be gone when this returns.
  void complete(std::int64_t tasks) noexcept {
    const auto* const owners_slot = base_;
    // Release: the writes of the tasks, to the acquire in end_tasks(). seq_cst: before the look whether the
    // waiter sleeps (src/scheduler/README.md, "Waiting for a task").
    pending_.fetch_sub(tasks, std::memory_order_seq_cst);
    Worker::wake_owner(owners_slot);
  }

  // Whether there are tasks in its part of the deque, or there were and they have been stolen.
  [[nodiscard]] bool hosts_tasks() const noexcept { return top_ != base_; }

  // Empties its part of the deque, without waiting for what was stolen to end.
  void end_as_host() noexcept;

 protected:
  scope_tasks() noexcept
      : base_(Worker::own().head()),
        top_(base_),
        window_end_(Worker::own().scope_limit - base_ < scope_window ? Worker::own().scope_limit
                                                                     : base_ + scope_window) {}

  // The scope in whose part of the deque a task of this scope is pushed: this scope, or the innermost scope
  // of the task that spawns it. Null: the caller is to run the task at once.
  scope* find_host() noexcept;

  // Has `push(slot)` push a task of this scope into the part of `host`. Throws what that throws.
  template <class Push>
  void push_into(scope_tasks& host, Push push) {
    // Before the push, from which on a thief may expose the task and end it. Relaxed: the task that spawns is
    // itself one of the pending.
    const bool elsewhere = &host != this;
    if (elsewhere) pending_.fetch_add(1, std::memory_order_relaxed);
    auto* const at = Worker::own().head();
    undo_if_thrown([&] { push(at); },
                   [&] {
                     if (elsewhere) pending_.fetch_sub(1, std::memory_order_relaxed);
                   });
    host.top_ = at + 1;
  }

  [[nodiscard]] bool has_tasks() const noexcept {
    // Acquire: as in end_tasks(), which is not called if all tasks ran in other scopes' parts and have ended.
    return hosts_tasks() || left_ != 0 || pending_.load(std::memory_order_acquire) != 0;
  }

  // Runs what has not been stolen. Returns whether all tasks have ended.
  [[nodiscard]] bool end_quickly() noexcept {
    // Acquire: as in end_tasks().
    return Worker::own().head() == top_ && run_newest_first() && left_ == 0 &&
           pending_.load(std::memory_order_acquire) == 0;
  }

  // Runs or waits for all tasks. The caller's head must be `top_`.
  void end_tasks() noexcept;

  slot* const base_;        // the owner's head when the scope began; null outside the workers
  slot* top_;               // the owner's head after the last push into this scope's part of the deque
  slot* const window_end_;  // which ends below this
  std::int64_t left_ = 0;   // this scope's tasks that thieves stole from that part
  // `left_` once that is final, and tasks in other scopes' parts; less the tasks of both that have ended.
  typename Worker::template atomic<std::int64_t> pending_{0};

 private:
  // Runs what has not been stolen, newest first. Returns whether that was everything.
  bool run_newest_first() noexcept {
    while (top_ != base_) {
      auto* const at = top_ - 1;
      if (!Worker::own().take(at) && !Worker::take_back(at)) [[unlikely]]
        return false;
      if (Worker::own().asked() && !Worker::answer_holding(at)) [[unlikely]]
        return false;
      top_ = at;
      at->run(*at, static_cast<const scope*>(this));
    }
    return true;
  }

  [[nodiscard]] bool all_moved_out() const noexcept;
  void free_stolen_slots() noexcept;
};

template <class Worker>
typename Worker::scope* scope_tasks<Worker>::find_host() noexcept {
  auto& own = Worker::own();
  auto* const host = own.innermost;
  if (host == nullptr || host->base_ == nullptr) return nullptr;
  if (own.head() == host->top_) {
    if (host->top_ == host->window_end_ && own.drained() && host->all_moved_out()) host->free_stolen_slots();
    if (host->top_ < host->window_end_) return host;
  }
  Worker::answer_request();
  return nullptr;
}

// Whether the thieves of all slots have done with them.
template <class Worker>
bool scope_tasks<Worker>::all_moved_out() const noexcept {
  for (auto* each = base_; each != top_; ++each) {
    // Acquire: pairs with the release in spawned::run().
    if (each->state.load(std::memory_order_acquire) != slot_state::moved_out) return false;
  }
  return true;
}

// All were stolen and have moved out.
template <class Worker>
void scope_tasks<Worker>::free_stolen_slots() noexcept {
  for (auto* each = base_; each != top_; ++each) {
    if (Worker::scope_of(*each) == this) ++left_;
    each->state.store(slot_state::idle, std::memory_order_relaxed);
  }
  top_ = base_;
  Worker::own().reclaim(base_);
}

template <class Worker>
void scope_tasks<Worker>::end_tasks() noexcept {
  end_as_host();
  pending_.fetch_add(std::exchange(left_, 0), std::memory_order_relaxed);
  // Acquire: pairs with complete(): all that the tasks did, and the error of one that failed.
  if (pending_.load(std::memory_order_acquire) != 0) Worker::wait_for_tasks(pending_);
}

template <class Worker>
void scope_tasks<Worker>::end_as_host() noexcept {
  while (!run_newest_first()) {
    // A thief moves the task out as the first thing it does.
    while (!all_moved_out()) Worker::yield();
    free_stolen_slots();
  }
}

}  // namespace teff::detail
