// Sleeping on a word of memory (Linux futexes, private to the process).
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace teff::detail {

// Sleeps if `word` still holds `expected`; may return for no reason.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

// Wakes one sleeper. The word may be gone already: only its address counts.
inline void futex_wake(const std::atomic<std::uint32_t>& word) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// The futex as idle_gate wants it.
struct futex {
  template <class T>
  using atomic = std::atomic<T>;
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    futex_wait(word, expected);
  }
  static void wake(const atomic<std::uint32_t>& word) noexcept { futex_wake(word); }
};

}  // namespace teff::detail
