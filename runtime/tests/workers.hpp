// Helpers of the runtime's tests: worker counts, random seeds, texts of errors.
#pragma once

#include <gtest/gtest.h>
#include <teff/teff.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>

namespace teff::test {

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TEFF_TEST_UNDER_TSAN
#endif
#if __has_feature(address_sanitizer)
#define TEFF_TEST_UNDER_ASAN
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(TEFF_TEST_UNDER_TSAN)
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(TEFF_TEST_UNDER_ASAN)
inline constexpr bool under_address_sanitizer = true;
#else
inline constexpr bool under_address_sanitizer = false;
#endif
inline constexpr bool under_sanitizer = under_thread_sanitizer || under_address_sanitizer;

// Also more workers than this machine has cores. A sanitizer sees a fault of 16 workers with 8 as well.
inline constexpr auto worker_counts = [] {
  if constexpr (under_sanitizer)
    return std::array{1U, 2U, 3U, 8U};
  else
    return std::array{1U, 2U, 3U, 4U, 8U, 16U};
}();

// Runs `check(rt)` on runtimes of several sizes.
template <class Check>
void on_runtimes(Check&& check) {
  for (const unsigned workers : worker_counts) {
    SCOPED_TRACE(testing::Message() << workers << " workers");
    runtime rt{{.workers = workers}};
    check(rt);
  }
}

// Runs f() on this worker's own thread, which must be free. Returns when f() has ended.
template <class F>
void on_own_thread(runtime& rt, unsigned worker, F f) {
  struct sent : detail::job {
    explicit sent(F& function)
        : job{[](job& this_job) noexcept {
            auto& me = static_cast<sent&>(this_job);
            me.f();
            me.ran.store(true, std::memory_order_release);
          }},
          f(function) {}
    F& f;
    std::atomic<bool> ran{false};
  } job(f);
  detail::submit_to(detail::private_access::internals(rt), worker, job);
  while (!job.ran.load(std::memory_order_acquire)) std::this_thread::yield();
}

// A seed for a random test: TEFF_TEST_SEED, or a new one. It is printed when the test fails.
inline std::uint64_t fresh_seed() {
  if (const char* const fixed = std::getenv("TEFF_TEST_SEED")) return std::strtoull(fixed, nullptr, 10);
  return std::random_device{}();
}

// The text of the Error that action() throws.
template <class Error, class Action>
std::string text_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// The n-th Fibonacci number, by a join at every step.
inline long fib(long n) {
  if (n < 2) return n;
  auto [a, b] = join([=] { return fib(n - 1); }, [=] { return fib(n - 2); });
  return a + b;
}

}  // namespace teff::test
