#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// A random graph in layers whose every dependence is checked: a task finds that all tasks it depends on have
// run.
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

  void run(runtime& rt, places where, bool with_priorities) {
    std::vector<std::atomic<int>> ran(predecessors_.size());
    std::atomic<int> wrong{0};
    const unsigned workers = rt.workers();
    const auto place = [=](key k) -> unsigned {
      if (where == places::some && k[1] % 3 == 0) return anywhere;
      return static_cast<unsigned>(k[1] * 7 + k[0] / 5) % workers;
    };
    task_graph<key> g{rt};
    g.indegree([&](key k) { return static_cast<int>(predecessors_[index(k)].size()); });
    g.body([&](key k) {
      if (where != places::none && place(k) != anywhere && place(k) != worker_index()) ++wrong;
      for (const key& each : predecessors_[index(k)]) wrong += ran[index(each)].load() != 1;
      ++ran[index(k)];
      for (const key& each : successors_[index(k)]) g.fulfill(each);
    });
    if (where != places::none) g.place(place);
    if (with_priorities) g.priority([](key k) { return k[1] % 5 - 2; });
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
  const int graphs = under_thread_sanitizer ? 3 : 30;
  on_runtimes([&](runtime& rt) {
    for (int i = 0; i < graphs; ++i) {
      random_graph graph(seed + static_cast<std::uint64_t>(i));
      graph.run(rt, random_graph::places::none, i % 2 == 0);
      graph.run(rt, random_graph::places::all, i % 2 == 0);
      graph.run(rt, random_graph::places::some, i % 2 == 0);
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
  const std::int64_t length = under_thread_sanitizer ? 10'000 : 1'000'000;
  run_chain(rt, length, [](const std::int64_t&) { return anywhere; });
  run_chain(rt, length, [](const std::int64_t&) { return 0U; });
  run_chain(rt, length / 100, [](const std::int64_t& i) { return static_cast<unsigned>(i); });
}

TEST(task_graph, a_wide_front_runs_once_each) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      const int width = under_thread_sanitizer ? 5'000 : 100'000;
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
      if (placed) g.place([](int i) { return static_cast<unsigned>(i); });
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
    const int steps = under_thread_sanitizer ? 100 : 20'000;
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
    // A thread sanitizer's own memory, several times what is touched, says nothing of ours.
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
        .place([](const std::string& word) { return static_cast<unsigned>(word.size()); })
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

TEST(task_graph, takes_the_callers_hash_also_a_bad_one) {
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

TEST(task_graph, runs_the_ready_task_with_the_highest_priority_first) {
  runtime rt{{.workers = 1}};
  std::vector<int> order;
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; })
      .place([](int) { return 0U; })
      .priority([](int i) { return i % 3; })
      .body([&](int i) {
        order.push_back(i);
        if (i == 0) {
          for (int each = 1; each < 9; ++each) g.fulfill(each);
        }
      });
  g.fulfill(0);
  g.wait();
  EXPECT_EQ(order, (std::vector<int>{0, 2, 5, 8, 1, 4, 7, 3, 6}));
}

TEST(task_graph, runs_the_highest_priority_first_also_without_a_place) {
  for (const bool outside : {false, true}) {
    runtime rt{{.workers = 1}};
    std::vector<int> order;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; }).priority([](int i) { return i % 3; }).body([&](int i) {
      order.push_back(i);
      if (i == 0) {
        for (int each = 1; each < 9; ++each) g.fulfill(each);
      }
    });
    const auto run = [&] {
      g.fulfill(0);
      g.wait();
    };
    outside ? run() : rt.run(run);
    EXPECT_EQ(order, (std::vector<int>{0, 8, 5, 2, 7, 4, 1, 6, 3}));
  }
}

TEST(task_graph, priorities_are_compared_between_tasks_with_and_without_a_place) {
  runtime rt{{.workers = 1}};
  std::vector<int> order;
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; })
      .place([](int i) { return i % 2 == 0 ? anywhere : 0U; })
      .priority([](int i) { return i / 3; })
      .body([&](int i) {
        order.push_back(i);
        if (i == 0) {
          for (int each = 1; each < 12; ++each) g.fulfill(each);
        }
      });
  g.fulfill(0);
  g.wait();
  EXPECT_EQ(order, (std::vector<int>{0, 9, 11, 10, 7, 8, 6, 3, 5, 4, 1, 2}));
}

TEST(task_graph, a_thief_takes_the_highest_priority_first) {
  runtime rt{{.workers = 2}};
  constexpr int tasks = 8;
  std::vector<int> order;  // written by worker 1
  std::atomic<bool> all_ready{false};
  std::atomic<int> ran{0};
  task_graph<int> g{rt};
  // -1 keeps worker 1 busy until the tasks are ready on worker 0, which 0 keeps busy until they have run.
  g.indegree([](int) { return 1; })
      .place([](int i) { return i > 0 ? anywhere : static_cast<unsigned>(-i); })
      .priority([](int i) { return i * 3 % tasks; })
      .body([&](int i) {
        if (i == -1) {
          while (!all_ready) std::this_thread::yield();
        } else if (i == 0) {
          for (int each = 1; each <= tasks; ++each) g.fulfill(each);
          all_ready = true;
          while (ran != tasks) std::this_thread::yield();
        } else {
          order.push_back(i);
          ++ran;
        }
      });
  rt.run([&] {
    g.fulfill(-1);
    g.fulfill(0);
    g.wait();
  });
  EXPECT_EQ(order, (std::vector<int>{5, 2, 7, 4, 1, 6, 3, 8}));
}

// What == and the hash leave out of a key.
struct carrier {
  int task;
  int load = 0;
  friend bool operator==(const carrier& a, const carrier& b) { return a.task == b.task; }
};
struct hash_of_carrier {
  std::size_t operator()(const carrier& k) const noexcept { return key_hash<int>{}(k.task); }
};

TEST(task_graph, what_a_key_carries_has_arrived_where_its_task_runs) {
  constexpr int tasks = 20000;
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{{.workers = workers}};
    // Task i is fulfilled by i - 1, which is on another worker if there is one, and by i - 2.
    std::vector<int> brought(tasks + 2);  // by those on other workers
    std::atomic<int> wrong{0};
    const auto place = [=](int task) { return static_cast<unsigned>(task) % workers; };
    task_graph<carrier, hash_of_carrier> g{rt};
    g.indegree([](const carrier& k) { return k.task < 2 ? k.task : 2; })
        .place([=](const carrier& k) { return place(k.task); })
        .arrived([&](const carrier& k) {
          if (place(k.task) != worker_index()) ++wrong;
          brought[static_cast<std::size_t>(k.task)] += k.load;
        })
        .body([&](const carrier& k) {
          int due = 0;
          for (int before = std::max(k.task - 2, 0); before < k.task; ++before)
            due += place(before) == place(k.task) ? 0 : before + 1;
          if (brought[static_cast<std::size_t>(k.task)] != due) ++wrong;
          for (int next = k.task + 1; next <= std::min(k.task + 2, tasks); ++next)
            g.fulfill({next, k.task + 1});
        });
    rt.run([&] {
      g.fulfill({0});
      g.wait();
    });
    EXPECT_EQ(wrong, 0) << workers << " workers";
  }
}

TEST(task_graph, one_message_that_does_not_count_stands_for_all_that_wait_for_a_task_on_a_worker) {
  static constexpr int steps = 300;
  static constexpr int width = 12;
  // Every task of a step waits for all of the step before. From other workers it hears in one key each:
  // (-1 - step, worker).
  using key = std::array<int, 2>;
  on_runtimes([](runtime& rt) {
    const int workers = static_cast<int>(rt.workers());
    std::atomic<int> ran{0};
    std::atomic<int> messages{0};
    std::atomic<int> wrong{0};
    task_graph<key> g{rt};
    const auto fulfill_own = [&](int step, int worker) {
      for (int at = worker; at < width; at += workers) g.fulfill({step, at});
    };
    g.indegree([](key k) { return k[0] == 0 ? 0 : width; })
        .place([=](key k) { return static_cast<unsigned>(k[1] % workers); })
        .arrived([&](key k) {
          if (k[0] >= 0) return true;
          ++messages;
          if (k[1] != static_cast<int>(worker_index())) ++wrong;
          fulfill_own(-k[0], k[1]);
          return false;
        })
        .body([&](key k) {
          ++ran;
          if (k[0] + 1 == steps) return;
          for (int worker = 0; worker < std::min(workers, width); ++worker) {
            if (worker == k[1] % workers) {
              fulfill_own(k[0] + 1, worker);
            } else {
              g.fulfill({-1 - k[0], worker});
            }
          }
        });
    for (int at = 0; at < width; ++at) g.fulfill({0, at});
    g.wait();
    EXPECT_EQ(ran, steps * width);
    EXPECT_EQ(messages, (steps - 1) * width * (std::min(workers, width) - 1));
    EXPECT_EQ(wrong, 0);
  });
}

TEST(task_graph, a_worker_that_always_has_a_ready_task_still_hears_from_others) {
  runtime rt{{.workers = 2}};
  bool asked = false;
  bool answered = false;
  task_graph<int> g{rt};
  // -1 and -2 follow each other on worker 0 until key 0 has come from worker 1.
  g.indegree([](int) { return 1; })
      .place([](int k) { return k > 0 ? 1U : 0U; })
      .arrived([&](int k) {
        if (k == 0) answered = true;
        return k != 0;
      })
      .body([&](int k) {
        if (k > 0) return g.fulfill(0);
        if (!answered) g.fulfill(k == -1 ? -2 : -1);
        if (!std::exchange(asked, true)) g.fulfill(1);
      });
  g.fulfill(-1);
  g.wait();
  EXPECT_TRUE(answered);
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
      if (placed) g.place([](int i) { return static_cast<unsigned>(i); });
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
      .place([](int i) { return static_cast<unsigned>(i); })
      .body([&](int i) {
        ++ran;
        if (i < last) here.fulfill(i + 1);
      });
  here.fulfill(1);
  while (ran != last) {
    here.wait();
    there.wait();
  }
  // The last body of `here` may still be within there.fulfill(), whose task has run and been counted.
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

TEST(task_graph, of_one_runtime_run_side_by_side) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> ran{0};
    std::vector<std::unique_ptr<task_graph<int>>> graphs;
    for (int i = 0; i < 5; ++i) {
      auto& g = *graphs.emplace_back(std::make_unique<task_graph<int>>(rt));
      g.indegree([](int) { return 1; }).body([&ran, &g](int k) {
        ++ran;
        if (k < 200) g.fulfill(k + 1);
      });
      if (i % 2 == 0) g.place([](int k) { return static_cast<unsigned>(k); });
    }
    for (auto& each : graphs) each->fulfill(1);
    for (auto& each : graphs) each->wait();
    EXPECT_EQ(ran, 1000);
  });
}

// ---- Errors ----

// What wait() throws.
template <class Graph>
std::string error_of(Graph& g) {
  try {
    g.wait();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(task_graph, keys_that_are_never_satisfied_are_named_and_counted) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      task_graph<std::array<int, 2>> g{rt};
      g.indegree([](auto k) { return k[0]; }).body([](auto) {});
      if (placed) g.place([](auto k) { return static_cast<unsigned>(k[1]); });
      for (int i = 0; i < 20; ++i) g.fulfill({3, i});
      g.fulfill({3, 7});
      try {
        g.wait();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const never_satisfied& error) {
        EXPECT_EQ(error.count, 20U);
        EXPECT_NE(std::string(error.what()).find("20 keys"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("(1 of 3)"), std::string::npos) << error.what();
      }
      g.fulfill({3, 7});  // all is forgotten: this is one of three again
      const auto message = error_of(g);
      EXPECT_NE(message.find("1 key was"), std::string::npos) << message;
      EXPECT_NE(message.find("(3, 7) (1 of 3)"), std::string::npos) << message;
      g.wait();
    }
  });
}

// wait() says that `key` was fulfilled once too often; then the graph is as new.
void expect_over_fulfilled(task_graph<int>& g, const std::string& key) {
  try {
    g.wait();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const over_fulfilled& error) {
    EXPECT_NE(std::string(error.what()).find("task " + key), std::string::npos) << error.what();
  }
  g.wait();
}

TEST(task_graph, a_key_that_one_body_fulfils_too_often_is_named) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      for (const int indegree : {1, 2}) {
        for (const int too_many : {1, 2}) {
          int ran = 0;
          task_graph<int> g{rt};
          g.indegree([&](int i) { return i == 42 ? indegree : 1; }).body([&](int i) {
            if (i == 42) ++ran;
            for (int n = 0; i == 0 && n < indegree + too_many; ++n) g.fulfill(42);
          });
          if (placed) g.place([](int) { return 0U; });
          g.fulfill(0);
          expect_over_fulfilled(g, "42");
          EXPECT_LE(ran, placed ? 1 : 0);
        }
      }
    }
  });
}

// All workers fulfil the keys from 100 on, once each, and none of them goes on before all have.
TEST(task_graph, keys_without_a_place_that_several_workers_fulfil_too_often_are_named) {
  for (unsigned workers = 1; workers <= 4; ++workers) {
    runtime rt{{.workers = workers}};
    for (int round = 0; round < 8; ++round) {
      const int all = static_cast<int>(workers);
      const int keys = 1 + 8 * round;
      const bool too_many = round % 2 == 0;
      std::atomic<int> begun{0};
      std::atomic<int> done{0};
      std::atomic<int> ran{0};
      const auto meet = [all](std::atomic<int>& here) {
        ++here;
        while (here != all) std::this_thread::yield();
      };
      task_graph<int> g{rt};
      g.indegree([&](int i) { return i < 100 ? 1 : all; }).body([&](int i) {
        if (i >= 100) {
          ++ran;
          return;
        }
        meet(begun);
        for (int n = 0; n < keys; ++n) g.fulfill(100 + (n + i) % keys);
        if (too_many && i == 0) g.fulfill(100);
        meet(done);
      });
      for (int i = 0; i < all; ++i) g.fulfill(i);
      if (too_many) {
        expect_over_fulfilled(g, "100");
        EXPECT_EQ(ran, 0);
      } else {
        g.wait();
        EXPECT_EQ(ran, keys);
      }
    }
  }
}

TEST(task_graph, a_key_without_a_place_that_is_fulfilled_from_elsewhere_while_it_runs_is_named) {
  on_runtimes([](runtime& rt) {
    for (const int fulfilled : {2, 3}) {
      std::atomic<int> ran{0};
      std::atomic<bool> begun{false};
      std::atomic<bool> all_fulfilled{false};
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int) {
        ++ran;
        begun = true;
        while (!all_fulfilled) std::this_thread::yield();
      });
      rt.run([&] {  // by a worker, but in no task of the graph
        g.fulfill(42);
        while (rt.workers() > 1 && !begun) std::this_thread::yield();
        for (int n = 1; n < fulfilled; ++n) g.fulfill(42);
        all_fulfilled = true;
        expect_over_fulfilled(g, "42");
      });
      EXPECT_EQ(ran, rt.workers() > 1 ? 1 : 0);
    }
  });
}

TEST(task_graph, a_key_without_a_place_that_other_threads_fulfil_too_often_is_named) {
  runtime rt{{.workers = 1}};
  std::atomic<bool> begun{false};
  std::atomic<bool> all_fulfilled{false};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([&](int i) {
    EXPECT_EQ(i, 0) << "ran, though it was fulfilled too often";
    begun = true;
    while (!all_fulfilled) std::this_thread::yield();
  });
  g.fulfill(0);
  while (!begun) std::this_thread::yield();  // the only worker
  std::thread([&] { g.fulfill(42); }).join();
  g.fulfill(42);
  all_fulfilled = true;
  expect_over_fulfilled(g, "42");
}

// A ring of tasks, each of which makes the next one ready. The worker that runs one runs the next when it has
// ended.
TEST(task_graph, a_key_that_is_fulfilled_after_its_task_has_run_runs_again) {
  on_runtimes([](runtime& rt) {
    for (const int length : {2, 5}) {
      const int laps = under_thread_sanitizer ? 100 : 2'000;
      int ran = 0;
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int i) {
        if (++ran % (laps * length) != 0) g.fulfill((i + 1) % length);
      });
      for (int run = 1; run <= 2; ++run) {
        g.fulfill(0);
        g.wait();
        EXPECT_EQ(ran, run * laps * length);
      }
    }
  });
}

TEST(task_graph, a_body_that_throws_ends_the_graph_and_drops_the_rest) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      std::atomic<int> ran{0};
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; }).body([&](int i) {
        ++ran;
        if (i == 100) throw std::out_of_range("100");
        g.fulfill(i + 1);
      });
      if (placed) g.place([](int i) { return static_cast<unsigned>(i); });
      g.fulfill(0);
      EXPECT_THROW(g.wait(), std::out_of_range);
      EXPECT_EQ(ran, 101);
      g.fulfill(100);
      EXPECT_THROW(g.wait(), std::out_of_range);
      g.wait();
    }
  });
}

TEST(task_graph, exceptions_at_random_reach_the_waiter) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  on_runtimes([&](runtime& rt) {
    for (int round = 0; round < 20; ++round) {
      const auto fatal = static_cast<int>(random() % 400);
      const bool placed = random() % 2 == 0;
      const bool with_priorities = random() % 2 == 0;
      task_graph<std::array<int, 2>> g{rt};
      g.indegree([](auto k) { return k[0] == 0 ? 0 : 2; }).body([&](auto k) {
        if (k[0] * 8 + k[1] == fatal) throw std::runtime_error("fatal");
        if (k[0] == 49) return;
        g.fulfill({k[0] + 1, k[1]});
        g.fulfill({k[0] + 1, (k[1] + 1) % 8});
      });
      if (placed) g.place([](auto k) { return static_cast<unsigned>(k[1]); });
      if (with_priorities) g.priority([](auto k) { return k[1] % 3; });
      for (int i = 0; i < 8; ++i) g.fulfill({0, i});
      EXPECT_EQ(error_of(g), "fatal");
    }
  });
}

TEST(task_graph, a_function_that_throws_reaches_the_waiter) {
  runtime rt{{.workers = 2}};
  for (const bool placed : {false, true}) {
    task_graph<int> g{rt};
    g.indegree([](int i) { return i == 5 ? throw std::domain_error("indegree") : 1; }).body([&](int i) {
      g.fulfill(i + 1);
    });
    if (placed) g.place([](int i) { return static_cast<unsigned>(i); });
    g.fulfill(0);
    EXPECT_EQ(error_of(g), "indegree");
  }
}

TEST(task_graph, a_priority_that_throws_reaches_the_waiter) {
  on_runtimes([](runtime& rt) {
    for (const bool placed : {false, true}) {
      task_graph<int> g{rt};
      g.indegree([](int) { return 1; })
          .priority([](int i) { return i == 5 ? throw std::domain_error("priority") : i; })
          .body([&](int i) { g.fulfill(i + 1); });
      if (placed) g.place([](int i) { return static_cast<unsigned>(i); });
      for (const int first : {0, 5}) {
        g.fulfill(first);
        EXPECT_EQ(error_of(g), "priority");
      }
      g.wait();
    }
  });
}

TEST(task_graph, a_fulfilment_whose_priority_throws_does_not_count) {
  runtime rt{{.workers = 1}};
  for (const bool placed : {false, true}) {
    bool throws = true;
    int ran = 0;
    task_graph<int> g{rt};
    g.indegree([](int) { return 1; })
        .priority([&](int i) { return i == 1 && throws ? throw std::domain_error("priority") : 0; })
        .body([&](int i) {
          ++ran;
          if (i != 0) return;
          EXPECT_THROW(g.fulfill(1), std::domain_error);
          throws = false;
          g.fulfill(1);
        });
    if (placed) g.place([](int) { return 0U; });
    g.fulfill(0);
    g.wait();
    EXPECT_EQ(ran, 2);
  }
}

TEST(task_graph, wait_within_one_of_its_tasks_is_a_named_error) {
  on_runtimes([](runtime& rt) {
    task_graph<std::array<int, 2>> g{rt};
    g.indegree([](auto) { return 1; }).body([&](auto) { g.wait(); });
    g.fulfill({4, 2});
    try {
      g.wait();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const graph_waits_for_itself& error) {
      EXPECT_NE(std::string(error.what()).find("(4, 2)"), std::string::npos) << error.what();
    }
  });
}

TEST(task_graph, used_after_shutdown_is_a_named_error) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.indegree([](int) { return 1; }).body([](int) {});
  rt.shutdown();
  EXPECT_THROW(g.fulfill(1), runtime_was_shut_down);
  EXPECT_THROW(g.wait(), runtime_was_shut_down);
}

TEST(task_graph, without_a_body_is_a_named_error) {
  runtime rt{{.workers = 1}};
  task_graph<int> g{rt};
  EXPECT_THROW(g.fulfill(1), misuse);
}

TEST(task_graph, destroyed_with_unfinished_work_says_so) {
  runtime rt{{.workers = 2}};
  for (const bool placed : {false, true}) {
    std::atomic<bool> begun{false};
    testing::internal::CaptureStderr();
    {
      task_graph<std::string> g{rt};
      g.indegree([](const std::string& key) { return key == "runs" ? 1 : 2; }).body([&](const std::string&) {
        begun = true;
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      });
      if (placed) g.place([](const std::string& key) { return static_cast<unsigned>(key.size()); });
      g.fulfill("runs");
      g.fulfill("waits");
      while (!begun) std::this_thread::yield();
    }
    EXPECT_NE(testing::internal::GetCapturedStderr().find("unfinished work"), std::string::npos);
  }
}

}  // namespace
}  // namespace teff::test
