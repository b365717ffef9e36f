// A lock that is held for a few instructions: who finds it taken looks again instead of falling asleep, which
// would take a hundred times as long. It costs one exchange; giving it back costs a store.
#pragma once

#include "platform/relax.hpp"

#include <atomic>
#include <thread>

namespace teff::detail {

class short_lock {
 public:
  void lock() noexcept {
    // Acquire: pairs with the release in unlock(): what was done under the lock before.
    while (taken_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  // Who has it may have lost its core.
  void wait() const noexcept {
    constexpr int looks_between_yields = 64;
    for (int look = 1; taken_.load(std::memory_order_relaxed); ++look) {
      if (look % looks_between_yields == 0) {
        std::this_thread::yield();
      } else {
        relax();
      }
    }
  }

  std::atomic<bool> taken_{false};
};

}  // namespace teff::detail
