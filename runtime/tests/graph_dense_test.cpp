// Task graphs whose keys are numbered: counted in an array.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

TEST(dense_graph, a_wavefront_of_integers_runs_in_order_again_and_again) {
  constexpr int rows = 40;
  on_runtimes([](runtime& rt) {
    std::vector<int> cells(rows * rows);
    task_graph<int> g{rt};
    g.dense(rows * rows)
        .indegree([](int k) { return (k >= rows ? 1 : 0) + (k % rows > 0 ? 1 : 0); })
        .body([&](int k) {
          const auto at = static_cast<std::size_t>(k);
          cells[at] = 1 + (k >= rows ? cells[at - rows] : 0) + (k % rows > 0 ? cells[at - 1] : 0);
          cells[at] %= 1009;
          if (k + rows < rows * rows) g.fulfill(k + rows);
          if (k % rows + 1 < rows) g.fulfill(k + 1);
        });
    int first = -1;
    for (int round = 0; round < 5; ++round) {
      std::ranges::fill(cells, 0);
      g.fulfill(0);
      g.wait();
      if (round == 0) first = cells.back();
      EXPECT_NE(first, 0);
      EXPECT_EQ(cells.back(), first);
    }
  });
}

// Of every fourth column the tasks have no place: workers share its counters.
TEST(dense_graph, placed_columns_run_in_order_again_and_again) {
  using key = std::array<int, 2>;  // (step, column)
  constexpr int steps = 30;
  constexpr int columns = 12;
  on_runtimes([](runtime& rt) {
    std::vector<std::atomic<int>> seen(columns);  // the last step that ran
    std::atomic<int> wrong{0};
    task_graph<key> g{rt};
    g.dense(steps * columns, [](key k) { return static_cast<std::size_t>(k[1] * steps + k[0]); })
        .place([workers = rt.workers()](
                   key k) { return k[1] % 4 == 3 ? anywhere : static_cast<unsigned>(k[1]) % workers; },
               placement::must)
        .indegree([](key k) { return k[0] == 0                          ? 0
                                     : k[1] == 0 || k[1] + 1 == columns ? 2
                                                                        : 3; })
        .body([&](key k) {
          const auto [step, column] = k;
          const bool is_placed = column % 4 != 3;
          if (is_placed && *worker_index() != static_cast<unsigned>(column) % rt.workers()) ++wrong;
          if (seen[static_cast<std::size_t>(column)].exchange(step) != step - 1) ++wrong;
          for (int near = std::max(column - 1, 0); near <= std::min(column + 1, columns - 1); ++near) {
            if (seen[static_cast<std::size_t>(near)] < step - 1) ++wrong;
            if (step + 1 < steps) g.fulfill({step + 1, near});
          }
        });
    for (int round = 0; round < 3; ++round) {
      for (auto& each : seen) each = -1;
      for (int column = 0; column < columns; ++column) g.fulfill({0, column});
      g.wait();
      for (const auto& each : seen) EXPECT_EQ(each, steps - 1);
    }
    EXPECT_EQ(wrong, 0);
  });
}

TEST(dense_graph, placed_tasks_of_the_highest_priority_run_first) {
  runtime rt{{.workers = 2}};
  std::vector<int> order;
  task_graph<int> g{rt};
  g.dense(10).place([](int) { return 1U; }, placement::must).priority([](int k) { return k; });
  g.indegree([](int k) { return k == 0 ? 0 : 1; }).body([&](int k) {
    order.push_back(k);
    if (k != 0) return;
    for (const int next : {4, 9, 2, 7}) g.fulfill(next);
  });
  g.fulfill(0);
  g.wait();
  EXPECT_EQ(order, (std::vector{0, 9, 7, 4, 2}));
}

TEST(dense_graph, a_chain_needs_no_stack) {
  runtime rt{{.workers = 2, .stack_size = std::size_t{1} << 20}};
  const int length = under_sanitizer ? 10'000 : 1'000'000;
  task_graph<int> g{rt};
  std::int64_t sum = 0;
  g.dense(static_cast<std::size_t>(length)).indegree([](int) { return 1; }).body([&](int i) {
    sum += i;
    if (i + 1 < length) g.fulfill(i + 1);
  });
  g.fulfill(0);
  g.wait();
  EXPECT_EQ(sum, std::int64_t{length} * (length - 1) / 2);
}

// The task that a body has made ready is kept by its worker: nobody else can run it while the body waits.
TEST(dense_graph, a_body_that_waits_for_another_graph_lets_what_it_made_ready_run) {
  on_runtimes([](runtime& rt) {
    std::atomic<int> ran{0};
    task_graph<int> inner{rt};
    inner.dense(4).indegree([](int) { return 1; }).body([&](int) { ++ran; });
    task_graph<int> outer{rt};
    outer.dense(4).indegree([](int) { return 1; }).body([&](int k) {
      if (k != 0) {
        inner.fulfill(k);
        return;
      }
      for (int next = 1; next < 4; ++next) outer.fulfill(next);
      inner.fulfill(0);
      rt.run([&] { join([&] { ++ran; }, [&] { ++ran; }); });
    });
    outer.fulfill(0);
    outer.wait();
    inner.wait();
    EXPECT_EQ(ran, 6);
  });
}

TEST(dense_graph, keys_that_own_memory_are_dropped_with_a_graph_that_failed) {
  on_runtimes([](runtime& rt) {
    task_graph<std::string> g{rt};
    const auto number = [](const std::string& k) { return static_cast<std::size_t>(std::stoi(k)); };
    std::atomic<int> ran{0};
    g.dense(1000, number).indegree([](const std::string&) { return 1; }).body([&](const std::string& k) {
      const int at = std::stoi(k);
      if (++ran == 20) throw std::runtime_error("a body's own");
      for (int next : {2 * at + 1, 2 * at + 2})
        if (next < 1000) g.fulfill(std::string(40, '0') + std::to_string(next));
    });
    g.fulfill("0");
    EXPECT_THROW(g.wait(), std::runtime_error);
    ran = 1000;
    g.fulfill("999");  // all has been forgotten
    g.wait();
    EXPECT_EQ(ran, 1001);
  });
}

TEST(dense_graph, keys_that_are_never_satisfied_are_named) {
  on_runtimes([](runtime& rt) {
    for (const unsigned place : {anywhere, rt.workers() - 1}) {
      task_graph<int> g{rt};
      g.dense(10).place([=](int) { return place; }).indegree([](int) { return 3; }).body([](int) {});
      g.fulfill(7);
      g.fulfill(7);
      try {
        g.wait();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const never_satisfied& error) {
        EXPECT_EQ(error.count, 1U);
        const auto* const named = place == anywhere ? "number 7 (1 missing)" : "7 (2 of 3)";
        EXPECT_NE(std::string(error.what()).find(named), std::string::npos) << error.what();
      }
      for (int i = 0; i < 3; ++i) g.fulfill(7);
      g.wait();
    }

    task_graph<std::array<int, 2>> h{rt};
    h.dense(100, [](auto k) { return static_cast<std::size_t>(k[0] * 10 + k[1]); });
    h.indegree([](auto) { return 2; }).body([](auto) {});
    h.fulfill({4, 2});
    try {
      h.wait();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const never_satisfied& error) {
      EXPECT_NE(std::string(error.what()).find("number 42 (1 missing)"), std::string::npos) << error.what();
    }
  });
}

TEST(dense_graph, a_key_that_is_fulfilled_too_often_is_named) {
  on_runtimes([](runtime& rt) {
    for (const unsigned place : {anywhere, rt.workers() - 1}) {
      task_graph<int> g{rt};
      g.dense(10).place([=](int) { return place; }, placement::must);
      g.indegree([](int k) { return k == 0 ? 0 : 1; }).body([&](int k) {
        if (k != 0) return;
        g.fulfill(5);
        g.fulfill(5);
      });
      g.fulfill(0);
      try {
        g.wait();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const over_fulfilled& error) {
        EXPECT_NE(std::string(error.what()).find("task 5"), std::string::npos) << error.what();
      }
      g.wait();
    }
  });
}

TEST(dense_graph, a_number_that_is_too_large_is_a_named_error) {
  runtime rt{{.workers = 2}};
  task_graph<int> g{rt};
  g.dense(10).indegree([](int) { return 1; }).body([&](int k) {
    if (k == 0) g.fulfill(10);
  });
  for (const int start : {0, -1}) {
    g.fulfill(start);
    try {
      g.wait();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const misuse& error) {
      EXPECT_NE(std::string(error.what()).find("below 10"), std::string::npos) << error.what();
    }
  }
}

TEST(dense_graph, threads_outside_the_runtime_fulfil) {
  on_runtimes([](runtime& rt) {
    constexpr int tasks = 200;
    std::atomic<int> ran{0};
    task_graph<int> g{rt};
    g.dense(tasks).indegree([](int) { return 3; }).body([&](int) { ++ran; });
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        for (int k = 0; k < tasks; ++k) g.fulfill(k);
      });
    for (auto& each : threads) each.join();
    g.wait();
    EXPECT_EQ(ran, tasks);
  });
}

TEST(dense_graph, left_with_unfinished_work_drops_it) {
  runtime rt{{.workers = 2}};
  testing::internal::CaptureStderr();
  {
    task_graph<std::string> g{rt};
    g.dense(8, [](const std::string& k) { return k.size(); });
    g.indegree([](const std::string&) { return 2; }).body([](const std::string&) {});
    g.fulfill("abc");
  }
  EXPECT_NE(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace teff::test
