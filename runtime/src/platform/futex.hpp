// Sleeping on a word of memory (Linux futexes, private to the process).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>

namespace teff::detail {

// Sleeps if `word` still holds `expected`; may return for no reason.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// The same, but not longer than until `deadline`: false if that has come. (The steady clock is
// CLOCK_MONOTONIC.)
inline bool futex_wait_until(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                             std::chrono::steady_clock::time_point deadline) noexcept {
  const auto since = deadline.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const timespec at{.tv_sec = static_cast<time_t>(seconds.count()),
                    .tv_nsec = static_cast<long>(std::chrono::nanoseconds(since - seconds).count())};
  return ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &at, nullptr,
                   FUTEX_BITSET_MATCH_ANY) == 0 ||
         errno != ETIMEDOUT;
}

// Wakes one sleeper. The word may be gone already: only its address counts.
inline void futex_wake(const std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// Wakes all, likewise.
inline void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// The futex as idle_gate wants it.
struct futex {
  template <class T>
  using atomic = std::atomic<T>;
  using time = std::chrono::steady_clock::time_point;
  static constexpr time never = time::max();
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    futex_wait(word, expected);
  }
  static bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected, time deadline) noexcept {
    return futex_wait_until(word, expected, deadline);
  }
  static void wake(const atomic<std::uint32_t>& word) noexcept { futex_wake(word); }
};

}  // namespace teff::detail
