// Graphs of numbered tasks that are known beforehand.
#include <teff/parallel_graph.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// Predecessors have smaller numbers.
struct random_graph {
  random_graph(int tasks, int most_before, std::mt19937_64& random)
      : before(static_cast<std::size_t>(tasks)), after(before.size()) {
    for (int task = 1; task < tasks; ++task) {
      const auto wanted = random() % static_cast<unsigned>(most_before + 1);
      for (unsigned i = 0; i < wanted; ++i) {
        const auto other = static_cast<int>(random() % static_cast<unsigned>(task));
        auto& mine = before[static_cast<std::size_t>(task)];
        if (std::ranges::count(mine, other) != 0) continue;
        mine.push_back(other);
        after[static_cast<std::size_t>(other)].push_back(task);
      }
    }
  }
  [[nodiscard]] int tasks() const { return static_cast<int>(before.size()); }
  [[nodiscard]] int indegree(int task) const {
    return static_cast<int>(before[static_cast<std::size_t>(task)].size());
  }
  std::vector<std::vector<int>> before, after;
};

TEST(parallel_graph, runs_each_task_of_random_graphs_once_and_after_its_predecessors) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  on_runtimes([seed](runtime& rt) {
    std::mt19937_64 random(seed);
    for (int round = 0; round < 6; ++round) {
      const random_graph graph(round * 400, 1 + round, random);
      const int spin = round % 2 == 0 ? 0 : 300;
      std::vector<int> ran(graph.before.size());  // ordered by the graph alone
      std::atomic<int> wrong{0};
      rt.run([&] {
        parallel_graph(
            graph.tasks(), [&](int task) { return graph.indegree(task); },
            [&](int task, const auto& release) {
              for (const int each : graph.before[static_cast<std::size_t>(task)])
                wrong += ran[static_cast<std::size_t>(each)] == 1 ? 0 : 1;
              for (int i = 0; i < spin; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
              ++ran[static_cast<std::size_t>(task)];
              for (const int each : graph.after[static_cast<std::size_t>(task)]) release(each);
            });
      });
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(std::ranges::count(ran, 1), graph.tasks());
    }
  });
}

// The counters of few tasks lie elsewhere than the counters of many tasks.
TEST(parallel_graph, runs_few_tasks_as_it_does_many) {
  on_runtimes([](runtime& rt) {
    for (int tasks = 1; tasks < 40; ++tasks) {
      std::vector<int> order;  // each but the last releases the next; the last needs all others
      rt.run([&] {
        parallel_graph(
            tasks, [=](int task) { return task + 1 == tasks ? task : std::min(task, 1); },
            [&](int task, const auto& release) {
              order.push_back(task);
              if (task + 1 == tasks) return;
              release(tasks - 1);
              if (task + 2 < tasks) release(task + 1);
            });
      });
      ASSERT_EQ(order.size(), static_cast<std::size_t>(tasks));
      EXPECT_TRUE(std::ranges::is_sorted(order));
    }
  });
}

// On a spare thread, where nobody shares.
TEST(parallel_graph, runs_the_newest_ready_task_first) {
  runtime rt{{.workers = 1}};
  std::vector<int> order;
  rt.run([&] {
    blocking([&] {
      parallel_graph(
          8, [](int task) { return task < 2 ? 0 : 1; },
          [&](int task, const auto& release) {
            order.push_back(task);
            if (task >= 2) return;
            for (int each = 0; each < 3; ++each) release(2 + 3 * task + each);
          });
    });
  });
  EXPECT_EQ(order, (std::vector{0, 4, 3, 2, 1, 7, 6, 5}));
}

TEST(parallel_graph, runs_within_the_default_runtime_and_within_its_own_tasks) {
  std::atomic<long> sum{0};
  parallel_graph(
      20L, [](long task) { return task == 0 ? 0 : 1; },
      [&](long task, const graph_release<long>& release) {
        parallel_graph(5, [](int) { return 0; }, [&](int inner, const auto&) { sum += inner; });
        parallel_for(0, 10, [&](int i) { sum += i; });
        if (task + 1 < 20) release(task + 1);
      });
  EXPECT_EQ(sum, 20 * (10 + 45));
}

TEST(parallel_graph, of_no_task_does_nothing) {
  const auto fails = [](auto...) -> int { throw std::logic_error("called"); };
  parallel_graph(0, fails, [](int, const auto&) {});
  parallel_graph(-7, fails, [](int, const auto&) {});
}

// Two tasks wait for each other: it ends if a free worker gets one of them, though the other runs. A body
// that was never measured may be long, so the first does not begin before the second can be had.
TEST(parallel_graph, gives_tasks_to_workers_that_become_free) {
  runtime rt{{.workers = 2}};
  std::latch both(2);
  rt.run(
      [&] { parallel_graph(2, [](int) { return 0; }, [&](int, const auto&) { both.arrive_and_wait(); }); });
}

TEST(parallel_graph, stops_at_the_first_exception) {
  on_runtimes([](runtime& rt) {
    for (const int fails_at : {0, 1, 50, 99}) {
      std::atomic<int> ran{0};
      const auto run = [&] {
        rt.run([&] {
          parallel_graph(
              100, [](int task) { return task == 0 ? 0 : 1; },
              [&](int task, const auto& release) {
                if (task == fails_at) throw std::out_of_range("task " + std::to_string(task));
                ++ran;
                if (task + 1 < 100) release(task + 1);
              });
        });
      };
      EXPECT_EQ(text_of<std::out_of_range>(run), "task " + std::to_string(fails_at));
      EXPECT_EQ(ran, fails_at);
    }
    std::atomic<int> ran{0};
    EXPECT_THROW(rt.run([&] {
      parallel_graph(
          1000, [](int) { return 0; },
          [&](int task, const auto&) {
            if (task % 2 == 1) throw task;
            ++ran;
          });
    }),
                 int);
    EXPECT_LT(ran, 1000);
  });
}

TEST(parallel_graph, names_tasks_that_nobody_releases) {
  on_runtimes([](runtime& rt) {
    const auto run = [&] {
      rt.run([] {
        parallel_graph(
            6, [](int task) { return task == 3   ? 2
                                     : task == 5 ? 1
                                                 : 0; },
            [](int task, const auto& release) {
              if (task == 0) release(3);
            });
      });
    };
    const auto text = text_of<never_satisfied>(run);
    EXPECT_NE(text.find("2 tasks were released less often than the indegree says: 3, 5"), std::string::npos)
        << text;
  });
}

TEST(parallel_graph, refuses_what_its_functions_say_wrongly) {
  const auto releases = [](int what, int indegree) {
    parallel_graph(
        3, [=](int task) { return task == 2 ? indegree : 0; },
        [=](int task, const auto& release) {
          if (task == 0) release(what);
        });
  };
  EXPECT_NE(text_of<misuse>([&] { releases(7, 0); }).find("the task 7 was released, and there are 3"),
            std::string::npos);
  EXPECT_THROW(releases(-1, 0), misuse);
  EXPECT_NE(text_of<over_fulfilled>([&] { releases(1, 0); }).find("the task 1 was released more often"),
            std::string::npos);
  EXPECT_NE(text_of<negative_indegree>([&] { releases(2, -4); }).find("the task 2 is -4"), std::string::npos);
}

TEST(parallel_graph, runs_on_a_spare_thread) {
  runtime rt{{.workers = 1}};
  const int ran = rt.run([] {
    return blocking([] {
      int count = 0;  // in order
      parallel_graph(
          5000, [](int task) { return task < 100 ? 0 : 1; },
          [&](int task, const auto& release) {
            ++count;
            if (task + 100 < 5000) release(task + 100);
          });
      return count;
    });
  });
  EXPECT_EQ(ran, 5000);
}

}  // namespace
}  // namespace teff::test
