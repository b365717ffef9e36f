// The clock of all accounts. Where the time-stamp counter runs at one rate in all cores, a reading takes some
// 15 ns. The reading must wait for the body before it, as rdtscp does and rdtsc does not: rdtsc takes bodies
// of 110 ns for bodies of 35.
#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace teff::collect {

inline std::uint64_t nanoseconds(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

inline bool counter_is_steady() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, steady = 0, d = 0, e = 0, f = 0, has_rdtscp = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &steady) && (steady >> 8 & 1) &&
         __get_cpuid(0x80000001, &d, &e, &f, &has_rdtscp) && (has_rdtscp >> 27 & 1);
#else
  return false;
#endif
}

extern bool reads_tsc;  // set before the first reading of ticks

inline std::uint64_t ticks() {
#if defined(__x86_64__)
  if (__builtin_expect(reads_tsc, 1)) {
    unsigned processor;
    return __rdtscp(&processor);
  }
  return nanoseconds();
#elif defined(__aarch64__)
  std::uint64_t count;
  asm volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count)::"memory");
  return count;
#else
  return nanoseconds();
#endif
}

}  // namespace teff::collect
