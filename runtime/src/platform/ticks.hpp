// A clock that is cheap to read: the processor's counter where it runs evenly, else the kernel's clock.
#pragma once

#include <teff/detail/platform/processor_clock.hpp>

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace teff::detail {

// By the steady clock, which processes of one machine share.
inline std::int64_t steady_nanoseconds(
    std::chrono::steady_clock::time_point at = std::chrono::steady_clock::now()) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count();
}

class ticks {
 public:
  [[nodiscard]] static std::uint64_t now() noexcept {
#if defined(__x86_64__)
    if (!counter_is_even()) [[unlikely]]
      return static_cast<std::uint64_t>(steady_nanoseconds());
#endif
    return static_cast<std::uint64_t>(processor_clock::now());
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
  // The reading that times in a trace are counted from.
  [[nodiscard]] std::uint64_t origin() const noexcept { return first_.ticks; }
  // The moment of that reading by the steady clock.
  [[nodiscard]] std::int64_t began() const noexcept { return steady_nanoseconds(first_.steady); }
  // Nanoseconds a tick, over the time since this was made: 50 ns of reading in that.
  [[nodiscard]] double nanoseconds_per_tick() const noexcept {
    const auto now = reading::of_both();
    const auto ticks = now.ticks - first_.ticks;
    const std::chrono::duration<double, std::nano> passed = now.steady - first_.steady;
    return ticks == 0 ? 1.0 : passed.count() / static_cast<double>(ticks);
  }

 private:
  using clock = std::chrono::steady_clock;
  struct reading {
    clock::time_point steady;
    std::uint64_t ticks;

    // The shortest of some: in another one the thread may have lost its core between the clocks.
    static reading of_both() noexcept {
      reading best{};
      auto least = ~std::uint64_t{0};
      for (int i = 0; i < 10; ++i) {
        const auto before = ticks::now();
        const auto steady = clock::now();
        const auto took = ticks::now() - before;
        if (took >= least) continue;
        least = took;
        best = {steady, before + took / 2};
      }
      return best;
    }
  };
  reading first_ = reading::of_both();
};

}  // namespace teff::detail
