#include <teff/error.hpp>
#include <teff/scope.hpp>

#include <exception>
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

std::exception_ptr scope_state::end() {
  if (base_ != nullptr) {
    if (self.head() != top_) {
      throw misuse(
          "teff::scope: waited for on another worker than its own, from within a join, or while a scope made "
          "later has tasks; it could never end");
    }
    end_tasks();
  }
  flags_.fetch_and(lane::watch, std::memory_order_relaxed);
  return std::exchange(error_, nullptr);
}

template class scope_tasks<calling_worker>;

}  // namespace detail
}  // namespace teff
