// A clock that is cheap to read: the processor's counter where it runs evenly, else the kernel's clock.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace teff::detail {

class ticks {
 public:
  [[nodiscard]] static std::uint64_t now() noexcept {
#if defined(__x86_64__)
    if (counter_is_even()) [[likely]]
      return __rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#endif
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
  }

 private:
#if defined(__x86_64__)
  // Constant in all power states, and so synchronised between cores (leaf 0x80000007, EDX bit 8).
  static bool counter_is_even() noexcept {
    static const bool even = [] {
      unsigned a = 0, b = 0, c = 0, d = 0;
      return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
    }();
    return even;
  }
#endif
};

// How long a tick is, from two readings of both clocks: when it was made, and when it is asked.
class tick_scale {
 public:
  tick_scale() noexcept : steady_(steady::now()), ticks_(ticks::now()) {}

  // The reading that times in a trace are counted from.
  [[nodiscard]] std::uint64_t origin() const noexcept { return ticks_; }
  // Nanoseconds a tick, over the time since this was made: 50 ns of reading in that.
  [[nodiscard]] double nanoseconds_per_tick() const noexcept {
    const auto ticks = ticks::now() - ticks_;
    const std::chrono::duration<double, std::nano> passed = steady::now() - steady_;
    return ticks == 0 ? 1.0 : passed.count() / static_cast<double>(ticks);
  }

 private:
  using steady = std::chrono::steady_clock;
  steady::time_point steady_;
  std::uint64_t ticks_;
};

}  // namespace teff::detail
