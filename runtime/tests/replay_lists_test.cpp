// A replay in which a worker does not get to its list: another worker runs it.
#include <gtest/gtest.h>
#include <teff/flow.hpp>
#include <teff/replay.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <thread>

#include "workers.hpp"

namespace teff::test {
namespace {

using key = std::array<int, 2>;  // (step, column)
constexpr int columns = 4;
constexpr int tasks = 2 * columns;

// Two steps of a ring of columns, the first half on worker 0 and the others on worker 1. A task adds its
// neighbours' values of the step before.
class ring {
 public:
  explicit ring(runtime& rt, placement binds = placement::should) : graph_(rt) {
    graph_.indegree([](key k) { return k[0] == 0 ? 0 : 3; })
        .place([](key k) { return static_cast<unsigned>(k[1] / (columns / 2)); }, binds)
        .body([this](key k) {
          run(k);
          for (int away : {0, 1, columns - 1}) graph_.fulfill({k[0] + 1, (k[1] + away) % columns});
        });
  }
  auto record() {
    return teff::record(
        graph_,
        [this] {
          for (int column = 0; column < columns; ++column) graph_.fulfill({0, column});
        },
        [](key k) { return k[0] < 2 ? std::nullopt : std::optional<key>({0, k[1]}); });
  }
  void run(key k) {
    const auto& before = values_[k[0]];
    std::uint64_t sum = 0;
    for (int away : {0, 1, columns - 1}) sum += before[(k[1] + away) % columns];
    values_[1 - k[0]][k[1]] = sum;
    ++ran_;
  }
  [[nodiscard]] int ran() const { return ran_; }
  // Each column has the same value: three times that of the step before.
  void expect_steps(int steps) const {
    std::uint64_t value = 1;
    for (int i = 0; i < steps; ++i) value *= 3;
    for (const auto each : values_[0]) EXPECT_EQ(each, value);
    EXPECT_EQ(ran_, steps * columns);
  }

 private:
  std::uint64_t values_[2][columns]{{1, 1, 1, 1}, {}};
  std::atomic<int> ran_{0};
  task_graph<key> graph_;
};

// Keeps worker 1 busy until `done()`. Returns when the worker is.
template <class Done>
std::jthread keep_worker_1_until(runtime& rt, Done done) {
  std::atomic<bool> busy{false};
  std::jthread keeper([&rt, &busy, done] {
    on_own_thread(rt, 1, [&] {
      busy = true;
      while (!done()) std::this_thread::yield();
    });
  });
  while (!busy) std::this_thread::yield();
  return keeper;
}

// The last tasks of worker 1, for which no other task waits, are left to it.
TEST(replay_lists, of_a_worker_that_does_not_come_are_run_by_another_one) {
  runtime rt{{.workers = 2}};
  ring all(rt);
  auto two_steps = all.record();
  for (int round = 1; round <= 4; ++round) {
    const auto keeper =
        keep_worker_1_until(rt, [&] { return all.ran() >= tasks * (1 + 5 * round) - columns / 2; });
    if (round % 2 == 0) {
      two_steps.replay(5);
    } else {
      two_steps.replay(5, [&](key k, std::uint64_t) { all.run(k); });
    }
  }
  all.expect_steps(2 * 21);
}

TEST(replay_lists, are_given_back_when_their_worker_comes) {
  runtime rt{{.workers = 2}};
  ring all(rt);
  auto two_steps = all.record();
  const auto keeper = keep_worker_1_until(rt, [&] { return all.ran() > 3 * tasks; });
  EXPECT_EQ(text_of<std::runtime_error>([&] {
              two_steps.replay(std::uint64_t{1} << 40, [&](key k, std::uint64_t) {
                all.run(k);
                if (k[1] == columns - 1 && worker_index() == 1U) throw std::runtime_error("worker 1");
              });
            }),
            "worker 1");
}

TEST(replay_lists, that_another_worker_runs_may_fail) {
  runtime rt{{.workers = 2}};
  ring all(rt);
  auto two_steps = all.record();
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> failed{false};
    const auto keeper = keep_worker_1_until(rt, [&] { return failed.load(); });
    EXPECT_EQ(text_of<std::runtime_error>([&] {
                two_steps.replay(9, [&](key k, std::uint64_t i) {
                  if (i != 2 || k[1] != columns - 1) return;
                  failed = true;
                  throw std::runtime_error("the last column");
                });
              }),
              "the last column");
    two_steps.replay(1);
  }
  all.expect_steps(2 * 4);
}

// Worker 1 is busy while worker 0 looks for something to do.
TEST(replay_lists, of_places_that_bind_stay_with_their_worker) {
  runtime rt{{.workers = 2}};
  ring all(rt, placement::must);
  auto two_steps = all.record();
  int looks = 0;
  const auto keeper =
      keep_worker_1_until(rt, [&] { return all.ran() > tasks && (all.ran() > 2 * tasks || ++looks > 1000); });
  two_steps.replay(5, [&](key k, std::uint64_t) {
    EXPECT_EQ(worker_index(), static_cast<unsigned>(k[1] / (columns / 2)));
    all.run(k);
  });
  all.expect_steps(2 * 6);
}

TEST(replay_lists, of_a_flow_are_run_by_another_worker) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::array<std::uint64_t, 2> values{1, 1};
  std::atomic<int> ran{0};
  auto step = f.record([&] {
    for (int i = 0; i < 8; ++i) {
      const auto at = static_cast<std::size_t>(i % 2);
      f.task(task_options{.place = static_cast<unsigned>(at)}, inout(values[at]), in(values[1 - at]),
             [&, at] {
               values[at] += values[1 - at];
               ++ran;
             });
    }
  });
  const auto keeper = keep_worker_1_until(rt, [&] { return ran >= 8 * 6 - 1; });
  step.replay(5);
  std::array<std::uint64_t, 2> expected{1, 1};
  for (std::size_t i = 0; i < 8 * 6; ++i) expected[i % 2] += expected[1 - i % 2];
  EXPECT_EQ(values, expected);
}

}  // namespace
}  // namespace teff::test
