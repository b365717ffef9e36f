// The processor's counter.
#pragma once

#include <teff/detail/platform/durations.hpp>

#include <algorithm>
#include <cstdint>

namespace teff::detail {

// It costs some nanoseconds to read. Rough is enough.
struct processor_clock {
  static std::int64_t now() noexcept {
#if defined(__x86_64__)
    return static_cast<std::int64_t>(__builtin_ia32_rdtsc());
#elif defined(__aarch64__)
    std::int64_t count;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return static_cast<std::int64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
  }

  // Ticks in this many nanoseconds, within a factor of two.
  static std::int64_t in(std::int64_t nanoseconds) noexcept {
#if defined(__x86_64__)
    return nanoseconds * 3;
#elif defined(__aarch64__)
    std::int64_t frequency;
    asm("mrs %0, cntfrq_el0" : "=r"(frequency));
    return std::max<std::int64_t>(nanoseconds * frequency / 1'000'000'000, 1);
#else
    return nanoseconds;
#endif
  }
};

}  // namespace teff::detail
