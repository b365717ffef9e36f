// A flag of a replay: it tells other workers how many of the tasks that raise it have ended
// (src/replay/README.md).
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// Counts up while a replay lasts. One worker writes it, and a dependence costs the transfer of its cache line
// to the core of the worker that waits.
template <template <class> class Atomic = std::atomic>
class replay_flag {
 public:
  // By the worker whose flag it is.
  void raise() noexcept {
    // Release: the bodies before it; pairs with reached().
    value_.store(value_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  [[nodiscard]] bool reached(std::uint64_t count) const noexcept {
    return value_.load(std::memory_order_acquire) >= count;
  }
  // While no other thread uses the flag.
  void set(std::uint64_t count) noexcept { value_.store(count, std::memory_order_relaxed); }

 private:
  Atomic<std::uint64_t> value_{0};
};

}  // namespace teff::detail
