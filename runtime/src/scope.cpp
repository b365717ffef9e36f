#include <teff/error.hpp>
#include <teff/scope.hpp>

#include "worker.hpp"

#include <exception>
#include <thread>
#include <utility>

namespace teff {

void scope::end_and_throw() {
  if (auto error = end()) std::rethrow_exception(std::move(error));
}

void scope::close() {
  const bool unwinding = detail::exceptions_in_flight() > exceptions_;
  if (unwinding) cancel();
  if (end_quickly()) return;
  auto error = end();
  if (error && !unwinding) std::rethrow_exception(std::move(error));
}

namespace detail {

void scope_state::fail(std::exception_ptr error) noexcept {
  // Relaxed: `error_` reaches its reader through `pending_`, or because the owner itself ran the task.
  const auto before = flags_.fetch_or(cancelled_flag | failed_flag, std::memory_order_relaxed);
  if ((before & failed_flag) == 0) error_ = std::move(error);
}

// In whose part of the deque a task of this scope is pushed: its own, or the innermost scope's of the task
// that spawns it; null: nowhere, it is to be run at once.
scope_state* scope_state::find_host() noexcept {
  auto* const host = self.innermost;
  if (base_ == nullptr || host == nullptr || host->base_ == nullptr) return nullptr;
  if (self.head() == host->top_) {
    if (host->top_ == host->window_end_ && self.drained() && host->all_moved_out()) host->free_stolen_slots();
    if (host->top_ < host->window_end_) return host;
  }
  answer_request();
  return nullptr;
}

// Whether the thieves of all slots have done with them.
bool scope_state::all_moved_out() const noexcept {
  for (auto* slot = base_; slot != top_; ++slot) {
    // Acquire: pairs with the release in spawned::run().
    if (slot->state.load(std::memory_order_acquire) != slot_state::moved_out) return false;
  }
  return true;
}

// All were stolen and have moved out.
void scope_state::free_stolen_slots() noexcept {
  for (auto* slot = base_; slot != top_; ++slot) {
    if (stored<scope_state*>(*slot) == this) ++left_;
    slot->state.store(slot_state::idle, std::memory_order_relaxed);
  }
  top_ = base_;
  self.reclaim(base_);
}

std::exception_ptr scope_state::end() {
  if (base_ != nullptr) {
    if (self.head() != top_) {
      throw misuse(
          "teff::scope: waited for on another worker than its own, from within a join, or while a scope made "
          "later "
          "has tasks; it could never end");
    }
    end_as_host();
    pending_.fetch_add(std::exchange(left_, 0), std::memory_order_relaxed);
    // Acquire: pairs with complete(): all that the tasks did, and `error_`.
    if (pending_.load(std::memory_order_acquire) != 0) worker::wait_for_tasks(pending_);
  }
  flags_.fetch_and(lane::watch, std::memory_order_relaxed);
  return std::exchange(error_, nullptr);
}

// Empties this scope's part of the deque, without waiting for what was stolen to end.
void scope_state::end_as_host() noexcept {
  while (!run_newest_first()) {
    // A thief moves the task out as the first thing it does.
    while (!all_moved_out()) std::this_thread::yield();
    free_stolen_slots();
  }
}

}  // namespace detail
}  // namespace teff
