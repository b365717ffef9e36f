#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// A random graph in layers. Each task checks that all tasks that it depends on have run.
class random_graph {
 public:
  using key = std::array<int, 2>;

  explicit random_graph(std::uint64_t seed) : random_(seed) {
    layers_ = 1 + static_cast<int>(random_() % 30);
    width_ = 1 + static_cast<int>(random_() % 40);
    const auto size = static_cast<std::size_t>(layers_ * width_);
    predecessors_.resize(size);
    successors_.resize(size);
    for (int layer = 1; layer < layers_; ++layer) {
      for (int at = 0; at < width_; ++at) {
        for (int other = 0; other < width_; ++other) {
          if (random_() % 8 == 0) connect({layer - 1 - static_cast<int>(random_() % 3), other}, {layer, at});
        }
      }
    }
  }

  enum class places { none, all, some };

  void run(runtime& rt, places where, bool with_priorities, bool dense = false) {
    std::vector<std::atomic<int>> ran(predecessors_.size());
    std::atomic<int> wrong{0};
    const unsigned workers = rt.workers();
    const auto binds = random_() % 2 == 0 ? placement::must : placement::should;
    const auto place = [=](key k) -> unsigned {
      if (where == places::some && k[1] % 3 == 0) return anywhere;
      return static_cast<unsigned>(k[1] * 7 + k[0] / 5) % workers;
    };
    task_graph<key> g{rt};
    g.indegree([&](key k) { return static_cast<int>(predecessors_[index(k)].size()); });
    g.body([&](key k) {
      if (where != places::none && binds == placement::must && place(k) != anywhere)
        wrong += place(k) != *worker_index();
      for (const key& each : predecessors_[index(k)]) wrong += ran[index(each)].load() != 1;
      ++ran[index(k)];
      for (const key& each : successors_[index(k)]) g.fulfill(each);
    });
    if (where != places::none) g.place(place, binds);
    if (with_priorities) g.priority([](key k) { return k[1] % 5 - 2; });
    if (dense) g.dense(predecessors_.size(), [this](key k) { return index(k); });
    const auto seed = [&] {
      for (int layer = 0; layer < layers_; ++layer) {
        for (int at = 0; at < width_; ++at) {
          if (predecessors_[index({layer, at})].empty()) g.fulfill({layer, at});
        }
      }
    };
    if (random_() % 2 == 0) {
      seed();
      g.wait();
    } else {
      rt.run([&] {
        seed();
        g.wait();
      });
    }
    EXPECT_EQ(wrong, 0);
    for (auto& each : ran) ASSERT_EQ(each, 1);
  }

 private:
  [[nodiscard]] std::size_t index(key k) const { return static_cast<std::size_t>(k[0] * width_ + k[1]); }
  void connect(key from, key to) {
    if (from[0] < 0) return;
    predecessors_[index(to)].push_back(from);
    successors_[index(from)].push_back(to);
  }

  std::mt19937_64 random_;
  int layers_;
  int width_;
  std::vector<std::vector<key>> predecessors_;
  std::vector<std::vector<key>> successors_;
};

TEST(task_graph, every_dependence_of_random_graphs_holds) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  const int graphs = under_sanitizer ? 3 : 30;
  on_runtimes([&](runtime& rt) {
    for (int i = 0; i < graphs; ++i) {
      random_graph graph(seed + static_cast<std::uint64_t>(i));
      graph.run(rt, random_graph::places::none, i % 2 == 0);
      graph.run(rt, random_graph::places::all, i % 2 == 0);
      graph.run(rt, random_graph::places::some, i % 2 == 0);
      graph.run(rt, random_graph::places::none, i % 2 == 0, true);
      graph.run(rt, random_graph::places::some, i % 2 == 0, true);
    }
  });
}

// A chain of tasks 0, 1, ..., length - 1.
void run_chain(runtime& rt, std::int64_t length, unsigned (*place)(const std::int64_t&)) {
  task_graph<std::int64_t> g{rt};
  std::int64_t sum = 0;
  g.indegree([](std::int64_t) { return 1; }).place(place).body([&](std::int64_t i) {
    sum += i;
    if (i + 1 < length) g.fulfill(i + 1);
  });
  g.fulfill(0);
  g.wait();
  EXPECT_EQ(sum, length * (length - 1) / 2);
}

TEST(task_graph, a_chain_of_a_million_tasks_needs_no_stack) {
  runtime rt{{.workers = 2, .stack_size = std::size_t{1} << 20}};
  const std::int64_t length = under_sanitizer ? 10'000 : 1'000'000;
  run_chain(rt, length, [](const std::int64_t&) { return anywhere; });
  run_chain(rt, length, [](const std::int64_t&) { return 0U; });
  run_chain(rt, length / 100, [](const std::int64_t& i) { return static_cast<unsigned>(i % 2); });
}

TEST(task_graph, each_task_of_a_wide_front_runs_once) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      const int width = under_sanitizer ? 5'000 : 100'000;
      std::atomic<long> sum{0};
      std::atomic<int> sinks{0};
      task_graph<int> g{rt};
      g.indegree([&](int i) { return i == width ? width : 1; }).body([&](int i) {
        if (i == -1) {
          for (int each = 0; each < width; ++each) g.fulfill(each);
        } else if (i == width) {
          ++sinks;
        } else {
          sum += i;
          g.fulfill(width);
        }
      });
      if (placed) g.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
      g.fulfill(-1);
      g.wait();
      EXPECT_EQ(sum, static_cast<long>(width) * (width - 1) / 2);
      EXPECT_EQ(sinks, 1);
    }
  });
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(task_graph, memory_grows_with_the_frontier_only) {
  runtime rt{{.workers = 2}};
  for (const bool placed : {false, true}) {
    constexpr int width = 64;
    const int steps = under_sanitizer ? 100 : 20'000;
    std::atomic<long> ran{0};
    task_graph<std::array<int, 2>> g{rt};
    g.indegree([](auto k) { return k[0] == 0 ? 0 : 3; }).body([&](auto k) {
      ran.fetch_add(1, std::memory_order_relaxed);
      if (k[0] + 1 == steps) return;
      for (const int d : {-1, 0, 1}) g.fulfill({k[0] + 1, (k[1] + width + d) % width});
    });
    if (placed) g.place([](auto k) { return static_cast<unsigned>(k[1]) * 2 / width; });
    const auto run = [&] {
      for (int column = 0; column < width; ++column) g.fulfill({0, column});
      g.wait();
    };
    rt.run([] {});
    const long before = peak_kib();
    run();
    EXPECT_EQ(ran, static_cast<long>(width) * steps);
    // A thread sanitizer's memory is several times the program's.
    if (!under_thread_sanitizer) {
      EXPECT_LT(peak_kib() - before, 8 * 1024);
    }
  }
}

TEST(task_graph, takes_any_hashable_key) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> ran{0};
    task_graph<std::string> words{rt};
    words.indegree([](const std::string&) { return 1; })
        .place([workers = rt.workers()](const std::string& word) {
          return static_cast<unsigned>(word.size()) % workers;
        })
        .body([&](const std::string& word) {
          ++ran;
          if (word.size() < 100) words.fulfill(word + "x");
        });
    words.fulfill("a");
    words.wait();
    EXPECT_EQ(ran, 100);

    task_graph<std::tuple<std::string, int, char>> tuples{rt};
    tuples.indegree([](const auto&) { return 1; }).body([&](const auto& key) {
      ++ran;
      if (std::get<1>(key) > 0) tuples.fulfill({std::get<0>(key) + "y", std::get<1>(key) - 1, 'c'});
    });
    tuples.fulfill({"a", 10, 'b'});
    tuples.wait();
    EXPECT_EQ(ran, 111);
  });
}

struct grid_point {
  int x;
  int y;
  bool operator==(const grid_point&) const = default;
};
struct by_diagonal {
  std::size_t operator()(const grid_point& p) const { return static_cast<std::size_t>(p.x + p.y); }
};

TEST(task_graph, takes_the_hash_of_the_program_even_a_bad_one) {
  runtime rt{{.workers = 3}};
  std::atomic<int> ran{0};
  task_graph<grid_point, by_diagonal> g{rt};
  g.indegree([](grid_point p) { return (p.x > 0) + (p.y > 0); }).body([&](grid_point p) {
    ++ran;
    if (p.x < 30) g.fulfill({p.x + 1, p.y});
    if (p.y < 30) g.fulfill({p.x, p.y + 1});
  });
  g.fulfill({0, 0});
  g.wait();
  EXPECT_EQ(ran, 31 * 31);
}

TEST(task_graph, can_be_used_again_after_wait) {
  runtime rt{{.workers = 2}};
  std::atomic<int> ran{0};
  task_graph<int> g{rt};
  g.indegree([](int) { return 2; }).body([&](int) { ++ran; });
  for (int round = 0; round < 200; ++round) {
    g.fulfill(1);
    g.fulfill(1);
    g.wait();
    ASSERT_EQ(ran, round + 1);
  }
}

TEST(task_graph, wait_on_an_empty_graph_returns) {
  on_runtimes([](runtime& rt) {
    task_graph<int> g{rt};
    g.wait();
    rt.run([&] { g.wait(); });
  });
}

TEST(task_graph, threads_outside_the_runtime_fulfil_and_wait) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      constexpr int threads = 4;
      constexpr int keys = 500;
      std::atomic<int> ran{0};
      task_graph<int> g{rt};
      g.indegree([](int) { return threads; }).body([&](int) { ++ran; });
      if (placed) g.place([workers = rt.workers()](int i) { return static_cast<unsigned>(i) % workers; });
      std::vector<std::thread> outside;
      for (int i = 0; i < threads; ++i) {
        outside.emplace_back([&] {
          for (int key = 0; key < keys; ++key) g.fulfill(key);
        });
      }
      for (auto& each : outside) each.join();
      std::vector<std::thread> waiting;
      for (int i = 0; i < 3; ++i) {
        waiting.emplace_back([&] {
          g.wait();
          EXPECT_EQ(ran, keys);
        });
      }
      for (auto& each : waiting) each.join();
    }
  });
}

TEST(task_graph, the_only_worker_runs_what_comes_from_outside_in_its_order) {
  runtime rt{{.workers = 1}};
  std::atomic<bool> first_began{false};
  std::atomic<bool> all_came{false};
  std::vector<int> order;
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int key) {
    order.push_back(key);
    if (key != 0) return;
    first_began = true;
    while (!all_came) std::this_thread::yield();
  });
  g.fulfill(0);
  while (!first_began) std::this_thread::yield();
  for (int key = 1; key < 10; ++key) g.fulfill(key);
  all_came = true;
  g.wait();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(task_graph, graphs_of_two_runtimes_fulfil_each_other) {
  runtime left{{.workers = 2}};
  runtime right{{.workers = 2}};
  std::atomic<int> ran{0};
  task_graph<int> here{left};
  task_graph<int> there{right};
  constexpr int last = 2000;
  here.indegree([](int) { return 1; }).body([&](int i) {
    ++ran;
    there.fulfill(i + 1);
  });
  there.indegree([](int) { return 1; })
      .place([workers = right.workers()](int i) { return static_cast<unsigned>(i) % workers; })
      .body([&](int i) {
        ++ran;
        if (i < last) here.fulfill(i + 1);
      });
  here.fulfill(1);
  while (ran != last) {
    here.wait();
    there.wait();
  }
  // The last body of `here` may still be within there.fulfill(), though the task that it made ready has run.
  here.wait();
  there.wait();
  EXPECT_EQ(ran, last);
}

TEST(task_graph, bodies_may_join_and_bring_up_graphs_of_their_own) {
  on_runtimes([](runtime& rt) {
    std::atomic<long> sum{0};
    task_graph<int> outer{rt};
    outer.indegree([](int) { return 1; }).body([&](int i) {
      sum += fib(10);
      task_graph<int> inner{rt};
      inner.indegree([](int) { return 1; }).body([&](int j) {
        ++sum;
        if (j > 0) inner.fulfill(j - 1);
      });
      inner.fulfill(9);
      inner.wait();
      if (i > 0) {
        outer.fulfill(2 * i - 1 < 8 ? i - 1 : i - 2);
      }
    });
    outer.fulfill(10);
    outer.wait();
    EXPECT_GT(sum, 0);
  });
}

TEST(task_graph, several_graphs_of_one_runtime_run_side_by_side) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> ran{0};
    std::vector<std::unique_ptr<task_graph<int>>> graphs;
    for (int i = 0; i < 5; ++i) {
      auto& g = *graphs.emplace_back(std::make_unique<task_graph<int>>(rt));
      g.indegree([](int) { return 1; }).body([&ran, &g](int k) {
        ++ran;
        if (k < 200) g.fulfill(k + 1);
      });
      if (i % 2 == 0) g.place([workers = rt.workers()](int k) { return static_cast<unsigned>(k) % workers; });
    }
    for (auto& each : graphs) each->fulfill(1);
    for (auto& each : graphs) each->wait();
    EXPECT_EQ(ran, 1000);
  });
}

}  // namespace
TEST(graph, a_spare_thread_that_waits_for_a_graph_leaves_its_place_to_another) {
  runtime rt{{.workers = 1}};
  std::atomic<bool> task_runs{false};
  std::atomic<bool> last_ran{false};
  task_graph<int> g{rt};
  g.indegree([](int) { return 0; }).body([&](int) {
    task_runs = true;
    task_runs.notify_one();
    blocking([&] { last_ran.wait(false); });
  });
  // From here on the only worker is in the middle of a request: spare threads run the others, one at a time.
  auto first = rt.submit([&] {
    g.fulfill(0);
    g.wait();
  });
  task_runs.wait(false);
  auto second = rt.submit([&] { g.wait(); });
  auto third = rt.submit([&] {
    last_ran = true;
    last_ran.notify_one();
  });
  last_ran.wait(false);
  first.get();
  second.get();
  third.get();
}

}  // namespace teff::test
