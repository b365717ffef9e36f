// Sleeping on a word of memory (Linux futexes, private to the process unless it is said).
#pragma once

#include <teff/detail/platform/doorbell.hpp>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teff::detail {

inline timespec timespec_of(std::chrono::nanoseconds time) noexcept {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = static_cast<time_t>(seconds.count()),
          .tv_nsec = static_cast<long>((time - seconds).count())};
}

// The doorbells that a sleeper listens to: a few. No two have the same word.
class doorbells {
 public:
  static constexpr std::size_t most = 8;

  // False: there are too many.
  bool add(doorbell added) noexcept {
    for (const auto& each : bells()) {
      if (each.word == added.word) return true;
    }
    if (size_ == most) return false;
    bells_[size_++] = added;
    return true;
  }
  [[nodiscard]] std::span<const doorbell> bells() const noexcept { return {bells_.data(), size_}; }

 private:
  std::array<doorbell, most> bells_{};
  std::size_t size_ = 0;
};

// One sleep on several words (futex_waitv, Linux 5.16). The headers may be older than the kernel.
class futex_vector {
 public:
  // Whether the kernel has it and lets this process use it.
  [[nodiscard]] static bool available() noexcept {
    static const bool known = ::syscall(number, nullptr, 0U, 0U, nullptr, CLOCK_MONOTONIC) != 0 &&
                              errno != ENOSYS && errno != EPERM;
    return known;
  }
  // Sleeps if `word` still holds `expected`, until `deadline` at the latest, or until a thread rings one of
  // the bells: false if one of these has happened.
  static bool wait_until(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                         std::chrono::steady_clock::time_point deadline, const doorbells& also) noexcept {
    std::array<element, 1 + doorbells::most> all{};
    all[0] = {expected, reinterpret_cast<std::uintptr_t>(&word), of_32_bits | FUTEX_PRIVATE_FLAG, 0};
    unsigned size = 1;
    for (const auto& each : also.bells())
      all[size++] = {each.quiet, reinterpret_cast<std::uintptr_t>(each.word), of_32_bits, 0};
    const auto at = timespec_of(deadline.time_since_epoch());
    const auto woken = ::syscall(number, all.data(), size, 0U, &at, CLOCK_MONOTONIC);
    if (woken >= 0) return woken == 0;
    if (errno == EINTR) return true;
    // With EAGAIN, the worker's word or the word of a bell has changed already. Any other error counts as a
    // bell's ringing: the memory of a bell may be gone with its channel, and the worker forgets it then.
    return errno == EAGAIN && word.load(std::memory_order_relaxed) != expected;
  }

 private:
  struct element {
    std::uint64_t expected;
    std::uint64_t address;
    std::uint32_t flags;
    std::uint32_t reserved;
  };
  static constexpr long number = 449;  // the same everywhere
  static constexpr std::uint32_t of_32_bits = 2;
};

// The futex, also as idle_gate and bell want it.
struct futex {
  template <class T>
  using atomic = std::atomic<T>;
  using time = std::chrono::steady_clock::time_point;
  static constexpr time never = time::max();
  using bells = doorbells;

  // Sleeps if `word` still holds `expected`; may return for no reason.
  static void wait(const atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
  }
  // The same, until `deadline` at the latest, or until a thread rings one of the bells: false if one of these
  // has happened. (The steady clock is CLOCK_MONOTONIC.)
  static bool wait_until(const atomic<std::uint32_t>& word, std::uint32_t expected, time deadline,
                         const bells& also = {}) noexcept {
    if (!also.bells().empty()) return futex_vector::wait_until(word, expected, deadline, also);
    const auto at = timespec_of(deadline.time_since_epoch());
    return ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, expected, &at, nullptr,
                     FUTEX_BITSET_MATCH_ANY) == 0 ||
           errno != ETIMEDOUT;
  }
  // Wakes so many sleepers. The word may be gone already: only its address counts.
  static void wake(const atomic<std::uint32_t>& word, int sleepers = 1) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, sleepers, nullptr, nullptr, 0);
  }
  // Wakes all, of any process that has this memory.
  static void wake_all(const atomic<std::uint32_t>& word) noexcept {
    ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  }
};

}  // namespace teff::detail
