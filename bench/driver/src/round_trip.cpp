#include "teff/bench/round_trip.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "teff/bench/cores.hpp"

namespace teff::bench {
namespace {

constexpr int batches = 9;
constexpr int trips = 100;  // of a batch

/// The line that goes to and fro: even numbers are sent by the first core, odd ones by the second. A release
/// store pairs with the other side's acquire load.
struct alignas(128) ball {
  std::atomic<int> count{0};
};

void await(const ball& line, int count) {
  for (int spins = 0; line.count.load(std::memory_order_acquire) != count; ++spins)
    if (spins > 10'000) std::this_thread::yield();  // the other side has lost its core
}

double pair_round_trip(int first, int second) {
  ball line;
  std::jthread other([&] {
    bind_to_core(second);
    for (int i = 0; i < batches * trips; ++i) {
      await(line, 2 * i + 1);
      line.count.store(2 * i + 2, std::memory_order_release);
    }
  });
  std::array<double, batches> seconds{};
  std::jthread one([&] {
    bind_to_core(first);
    int next = 0;
    for (double& batch : seconds) {
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < trips; ++i, next += 2) {
        line.count.store(next + 1, std::memory_order_release);
        await(line, next + 2);
      }
      batch = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / trips;
    }
  });
  one.join();
  std::nth_element(seconds.begin(), seconds.begin() + batches / 2, seconds.end());
  return seconds[batches / 2];
}

}  // namespace

std::optional<double> measure_round_trip(int workers) {
  if (workers < 2) return std::nullopt;
  double sum = 0;
  for (int i = 0; i + 1 < workers; ++i) sum += pair_round_trip(i, i + 1);
  return sum / (workers - 1);
}

}  // namespace teff::bench
