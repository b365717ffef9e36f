// A lock for the time of a copy or less.
#pragma once

#include <atomic>

namespace teff::detail {

// Between two looks of a thread that waits for a word. Soon it lets others have the core: the thread that it
// waits for may have been switched out. `look`: from 0 on.
void relax_or_yield(int look) noexcept;

// To take it and give it back is one locked instruction; a std::mutex needs two, and two calls. A thread that
// finds it taken looks again and again.
class spin_lock {
 public:
  void lock() noexcept {
    if (!try_lock()) [[unlikely]]
      wait();
  }
  [[nodiscard]] bool try_lock() noexcept {
    // Relaxed: a look, since an exchange in vain takes the line from the holder. Acquire: pairs with the
    // release of the last holder.
    return !taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  void wait() noexcept;

  std::atomic<bool> taken_{false};
};

}  // namespace teff::detail
