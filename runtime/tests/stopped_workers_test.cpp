// Workers are stopped at random between any two instructions, as by a system that takes their cores away. All
// work is done all the same, and each part of it once.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>
#include <teff/teff.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// Stops one thread at a time, for some microseconds.
class stopper {
 public:
  // The threads outlive it.
  stopper(std::vector<pthread_t> threads, std::uint64_t seed) : threads_(std::move(threads)), random_(seed) {
    EXPECT_EQ(pipe(go_on.data()), 0);
    struct sigaction stop{};
    stop.sa_handler = [](int) {
      const int before = errno;
      stopped.fetch_add(1);
      char byte = 0;
      while (read(go_on[0], &byte, 1) != 1) continue;
      resumed.fetch_add(1);
      errno = before;
    };
    stop.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &stop, &before_);
    stopped = resumed = 0;
    thread_ = std::thread([this] { stop_threads(); });
  }
  ~stopper() {
    over_ = true;
    thread_.join();
    sigaction(SIGUSR2, &before_, nullptr);
    for (const int end : go_on) close(end);
  }
  [[nodiscard]] int stops() const { return stopped.load(); }

 private:
  void stop_threads() {
    for (int count = 1; !over_; ++count) {
      if (pthread_kill(threads_[random_() % threads_.size()], SIGUSR2) != 0) return;
      while (stopped != count) std::this_thread::yield();
      pause();
      EXPECT_EQ(write(go_on[1], "x", 1), 1);
      while (resumed != count) std::this_thread::yield();
      pause();
    }
  }

  // For up to some ten microseconds.
  void pause() {
    for (auto looks = random_() % 20'000; looks != 0 && !over_; --looks) continue;
  }

  static inline std::array<int, 2> go_on{};
  static inline std::atomic<int> stopped{0};
  static inline std::atomic<int> resumed{0};
  const std::vector<pthread_t> threads_;
  std::mt19937_64 random_;
  struct sigaction before_{};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

using key = std::array<int, 2>;  // (step, column)
constexpr int width = 8;
constexpr int steps = 40;

// How often each part of some work ran.
class tally {
 public:
  void count(std::size_t part) { ran_[part].fetch_add(1, std::memory_order_relaxed); }
  void expect_each(int times) {
    for (auto& each : ran_) EXPECT_EQ(each.exchange(0), times);
  }

 private:
  std::array<std::atomic<int>, std::size_t{width} * steps> ran_{};
};

void describe_grid(task_graph<key>& grid, tally& ran) {
  grid.indegree([](key k) { return k[0] == 0 ? 1 : 1 + (k[1] > 0) + (k[1] + 1 < width); }).body([&](key k) {
    ran.count(static_cast<std::size_t>(k[0] * width + k[1]));
    if (k[0] + 1 == steps) return;
    for (int next = std::max(k[1] - 1, 0); next <= std::min(k[1] + 1, width - 1); ++next)
      grid.fulfill({k[0] + 1, next});
  });
}

void run_graph(runtime& rt, bool placed) {
  tally ran;
  task_graph<key> grid{rt};
  describe_grid(grid, ran);
  if (placed) grid.place([n = rt.workers()](key k) { return static_cast<unsigned>(k[1]) * n / width; });
  for (int round = 0; round < 2; ++round) {
    for (int column = 0; column < width; ++column) grid.fulfill({0, column});
    grid.wait();
    ran.expect_each(1);
  }
}

void run_replay(runtime& rt) {
  tally ran;
  task_graph<key> grid{rt};
  describe_grid(grid, ran);
  grid.place([n = rt.workers()](key k) { return static_cast<unsigned>(k[1]) * n / width; });
  auto recording = record(grid, [&] {
    for (int column = 0; column < width; ++column) grid.fulfill({0, column});
  });
  recording.replay(3);
  ran.expect_each(4);
}

void run_scopes(runtime& rt) {
  tally ran;
  rt.run([&] {
    scope outer;
    for (std::size_t step = 0; step < steps; ++step)
      outer.spawn([&ran, step] {
        scope inner;
        for (std::size_t i = 0; i < width; ++i) inner.spawn([&ran, at = step * width + i] { ran.count(at); });
        inner.wait();
      });
    outer.wait();
  });
  ran.expect_each(1);
}

void run_loops(runtime& rt) {
  tally ran;
  rt.run([&] {
    parallel_for(std::size_t{0}, std::size_t{width} * steps, [&](std::size_t i) { ran.count(i); });
  });
  ran.expect_each(1);
}

void run_flow(runtime& rt) {
  tally ran;
  std::array<int, width> data{};
  flow f{rt};
  for (std::size_t step = 0; step < steps; ++step)
    for (std::size_t i = 0; i < width; ++i)
      f.task(in(data[(i + 1) % width]), inout(data[i]), [&ran, &data, i, at = step * width + i] {
        ran.count(at);
        ++data[i];
      });
  f.wait();
  ran.expect_each(1);
  for (const int each : data) EXPECT_EQ(each, steps);
}

// The threads of the workers, and the calling one, which may be a guest.
std::vector<pthread_t> threads_of(runtime& rt) {
  std::vector<pthread_t> threads(rt.workers(), pthread_self());
  task_graph<unsigned> each{rt};
  each.indegree([](unsigned) { return 1; })
      .place([](unsigned worker) { return worker; }, placement::must)
      .body([&](unsigned worker) {
        threads[worker] = pthread_self();
        sigset_t stops;  // workers block all signals
        sigemptyset(&stops);
        sigaddset(&stops, SIGUSR2);
        pthread_sigmask(SIG_UNBLOCK, &stops, nullptr);
      });
  for (unsigned worker = 0; worker < rt.workers(); ++worker) each.fulfill(worker);
  each.wait();
  return threads;
}

TEST(stopped_workers, lose_nothing_and_run_nothing_twice) {
  if (under_thread_sanitizer) GTEST_SKIP() << "ThreadSanitizer delays signals";
  const char* const asked = std::getenv("TEFF_TEST_PLACEMENTS");
  const int placements = asked == nullptr ? 300 : std::atoi(asked);
  const auto seed = fresh_seed();
  SCOPED_TRACE("TEFF_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  runtime rt{{.workers = 3, .bind = false}};
  const stopper stops(threads_of(rt), seed);
  while (stops.stops() < placements) {
    switch (random() % 6) {
      case 0:
        run_graph(rt, false);
        break;
      case 1:
        run_replay(rt);
        break;
      case 2:
        run_scopes(rt);
        break;
      case 3:
        run_loops(rt);
        break;
      case 4:
        run_flow(rt);
        break;
      default:
        run_graph(rt, true);
    }
    if (testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace teff::test
