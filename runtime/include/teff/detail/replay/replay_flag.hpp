// What one worker tells another while a recording is replayed: how often it has come by
// (src/replay/README.md).
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// Counts up while a replay lasts. One worker writes it: a dependence costs the way of its cache line from
// there to the core of the worker that waits.
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
  // While nobody else looks.
  void set(std::uint64_t count) noexcept { value_.store(count, std::memory_order_relaxed); }

 private:
  Atomic<std::uint64_t> value_{0};
};

}  // namespace teff::detail
