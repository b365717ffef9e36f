// The seat of worker 0: a lock, whose holder is that worker (guests.md).
#pragma once

#include <atomic>
#include <cstdint>

namespace teff::detail {

// The worker's own thread has it to begin with, and waits for it. A thread from outside only tries to take
// it. `System`: as idle_gate.
template <class System>
class seat {
 public:
  [[nodiscard]] bool try_take() noexcept {
    auto now = free;
    // Acquire: pairs with the release in leave(), after the last holder acted as the worker.
    return word_.compare_exchange_strong(now, taken, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // Called by the worker's own thread only.
  void take() noexcept {
    while (!try_take()) {
      auto now = taken;
      if (!word_.compare_exchange_strong(now, awaited, std::memory_order_relaxed)) continue;
      // Acquire: as in try_take().
      while (word_.load(std::memory_order_acquire) == awaited) System::wait(word_, awaited);
      return;  // the last holder has passed it on
    }
  }
  void leave() noexcept {
    auto now = taken;
    if (word_.compare_exchange_strong(now, free, std::memory_order_release, std::memory_order_relaxed))
      return;
    word_.store(taken, std::memory_order_release);  // by the worker's own thread, from now on
    System::wake(word_);
  }

  // From the first to the second, a thread from outside would like to have it soon.
  void begin_to_want() noexcept { wanted_.fetch_add(1, std::memory_order_relaxed); }
  void end_to_want() noexcept { wanted_.fetch_sub(1, std::memory_order_relaxed); }
  // A hint.
  [[nodiscard]] bool is_wanted() const noexcept { return wanted_.load(std::memory_order_relaxed) != 0; }

 private:
  static constexpr std::uint32_t free = 0;
  static constexpr std::uint32_t taken = 1;
  static constexpr std::uint32_t awaited = 2;  // taken, and the worker's own thread waits for it

  typename System::template atomic<std::uint32_t> word_{taken};
  std::atomic<unsigned> wanted_{0};  // so many threads
};

}  // namespace teff::detail
