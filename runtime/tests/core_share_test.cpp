// When a worker gives way on a core that another program shares, and that all of its tasks still run.
#include <teff/detail/scheduler/core_share.hpp>
#include <teff/teff.hpp>

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace teff::test {
namespace {

constexpr std::int64_t microsecond = 1000;
constexpr std::int64_t millisecond = 1000 * microsecond;

// A thread on a core, by a clock in nanoseconds.
struct simulated_thread {
  static inline std::int64_t clock = 0;
  static inline std::int64_t taken = 0;
  static inline std::int64_t lacked = 0;
  static inline double published = 1;
  static inline std::int64_t other_runs =
      0;  // how long another thread runs when this one gives way; 0: no other thread wants the core

  static std::int64_t now() noexcept { return clock; }
  static std::int64_t in(std::int64_t nanoseconds) noexcept { return nanoseconds; }
  static std::int64_t times_taken() noexcept { return taken; }
  static detail::core_time time() noexcept { return {clock - lacked, lacked}; }
  static void publish(double capacity) noexcept { published = capacity; }
  static void give_way() noexcept {
    if (other_runs != 0) take_away(other_runs);
  }
  static void take_away(std::int64_t time) noexcept {
    clock += time;
    lacked += time;
    ++taken;
  }
};
using share = detail::core_share<simulated_thread>;

// Runs tasks until the worker should leave the core. Returns how long that took, or -1 after a second.
std::int64_t time_until_it_leaves(share& core, std::int64_t task) {
  const auto began = simulated_thread::clock;
  while (simulated_thread::clock < began + 1000 * millisecond) {
    simulated_thread::clock += task;
    if (core.is_time_to_give_way()) return simulated_thread::clock - began;
  }
  return -1;
}

struct core_share : testing::Test {
  void SetUp() override {
    simulated_thread::clock = 1'000'000 * millisecond;
    simulated_thread::taken = 7;
    simulated_thread::lacked = 5000 * millisecond;
    simulated_thread::published = 1;
    simulated_thread::other_runs = 0;
    static_cast<void>(core.is_time_to_give_way());
    static_cast<void>(core.is_time_to_give_way());
  }
  share core;
};

TEST_F(core_share, keeps_a_core_that_no_other_thread_wants) {
  EXPECT_EQ(time_until_it_leaves(core, 10 * microsecond), -1);
  EXPECT_EQ(time_until_it_leaves(core, 3 * millisecond), -1) << "a long task is no absence";
  EXPECT_FALSE(core.is_shared());
  EXPECT_EQ(core.capacity(), 1);
}

TEST_F(core_share, ends_its_turns_itself_once_its_core_was_taken_away) {
  static_cast<void>(time_until_it_leaves(core, 10 * microsecond));
  simulated_thread::take_away(4 * millisecond);
  EXPECT_FALSE(core.is_time_to_give_way()) << "it has just come back";
  EXPECT_TRUE(core.is_shared());
  EXPECT_GT(simulated_thread::published, 0.9) << "it had the core for a second before";
  simulated_thread::other_runs = 4 * millisecond;
  for (int turn = 0; turn < 100; ++turn) {
    EXPECT_EQ(time_until_it_leaves(core, 10 * microsecond), share::turn) << "turn " << turn;
    core.give_way();
    EXPECT_TRUE(core.is_shared());
  }
  EXPECT_NEAR(core.capacity(), 1.0 / 3, 0.01);
  EXPECT_EQ(simulated_thread::published, core.capacity());
}

TEST_F(core_share, forgets_another_program_that_has_gone) {
  for (const bool gives_way : {true, false}) {
    SCOPED_TRACE(gives_way);
    simulated_thread::take_away(4 * millisecond);
    static_cast<void>(core.is_time_to_give_way());
    EXPECT_TRUE(core.is_shared());
    EXPECT_LT(simulated_thread::published, 1);
    const auto came = simulated_thread::clock;
    while (core.is_shared() && simulated_thread::clock < came + 2 * share::memory) {
      simulated_thread::clock += 10 * microsecond;
      if (core.is_time_to_give_way() && gives_way) core.give_way();
    }
    EXPECT_FALSE(core.is_shared());
    EXPECT_GE(simulated_thread::clock - came, share::memory);
    EXPECT_EQ(simulated_thread::published, 1);
  }
}

// Keeps each core that the process may use busy with a thread that never waits.
class busy_cores {
 public:
  busy_cores() {
    cpu_set_t usable;
    sched_getaffinity(0, sizeof usable, &usable);
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &usable)) continue;
      threads_.emplace_back([this, core] {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        CPU_SET(core, &mine);
        pthread_setaffinity_np(pthread_self(), sizeof mine, &mine);
        while (!over_.load(std::memory_order_relaxed)) continue;
      });
    }
  }
  ~busy_cores() {
    over_ = true;
    for (auto& each : threads_) each.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

// Runs a grid whose tasks each need two tasks of the row before. Returns how many tasks ran on a worker that
// knew of the busy loop on its core.
int run_grid_once(runtime& rt, bool numbered) {
  constexpr int width = 16;
  constexpr int height = 500;
  std::vector<std::atomic<int>> ran(static_cast<std::size_t>(width) * height);
  std::atomic<int> on_shared{0};
  std::atomic<std::uint64_t> sink{0};
  task_graph<int> graph(rt);
  if (numbered) graph.dense(width * height);
  graph.indegree([](int key) { return key < width ? 1 : 2; });
  graph.body([&](int key) {
    auto sum = static_cast<std::uint64_t>(key);
    for (std::uint64_t i = 0; i < 10'000; ++i) sum = sum * 7 + i;
    sink.fetch_add(sum, std::memory_order_relaxed);
    ran[static_cast<std::size_t>(key)].fetch_add(1, std::memory_order_relaxed);
    if (detail::this_core.is_shared()) on_shared.fetch_add(1, std::memory_order_relaxed);
    const int row = key / width;
    if (row + 1 == height) return;
    graph.fulfill((row + 1) * width + key % width);
    graph.fulfill((row + 1) * width + (key + 1) % width);
  });
  for (int key = 0; key < width; ++key) graph.fulfill(key);
  graph.wait();
  for (const auto& each : ran) EXPECT_EQ(each.load(), 1);
  return on_shared.load();
}

// The workers leave their cores in the middle of the graph, and give away the task that each kept to run
// next.
TEST(shared_core, a_graph_beside_busy_loops_runs_each_task_once) {
  const busy_cores others;
  runtime rt({.workers = 2});
  constexpr int most_rounds = 100;  // until a worker has noticed
  for (const bool numbered : {false, true}) {
    int on_shared = 0;
    for (int round = 0; round < most_rounds && on_shared < 1000; ++round)
      on_shared += run_grid_once(rt, numbered);
    EXPECT_GE(on_shared, 1000);
  }
}

}  // namespace
}  // namespace teff::test
