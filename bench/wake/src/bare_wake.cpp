#include "teff/wake/bare_wake.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include "teff/bench/cores.hpp"
#include "teff/bench/pinned_threads.hpp"

namespace teff::wake {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds time_to_fall_asleep{200};

/// std::atomic's wait spins for some microseconds, then sleeps in a futex.
class sleeper {
 public:
  void sleep(int wakes) {
    for (std::uint32_t round = 0; std::cmp_less(round, wakes); ++round) {
      round_.wait(round, std::memory_order_acquire);
      awake_.store(clock::now(), std::memory_order_relaxed);
      answered_.store(round + 1, std::memory_order_release);  // pairs with the acquire in wake()
    }
  }

  [[nodiscard]] double wake() {
    const auto began = clock::now();
    const std::uint32_t round = round_.fetch_add(1, std::memory_order_release) + 1;
    round_.notify_one();
    while (answered_.load(std::memory_order_acquire) != round) std::this_thread::yield();
    return std::chrono::duration<double>(awake_.load(std::memory_order_relaxed) - began).count();
  }

 private:
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::uint32_t> answered_{0};
  std::atomic<clock::time_point> awake_{};
};

}  // namespace

std::vector<double> bare_wakes(int wakes) {
  std::vector<double> found;
  if (bench::usable_cores() < 2) return found;
  sleeper other;
  bench::run_on_pinned_threads(
      2, [] {},
      [&](int worker) {
        if (worker == 1) return other.sleep(wakes);
        for (int i = 0; i < wakes; ++i) {
          std::this_thread::sleep_for(time_to_fall_asleep);
          found.push_back(other.wake());
        }
      });
  return found;
}

}  // namespace teff::wake
