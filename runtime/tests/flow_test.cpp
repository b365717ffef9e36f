// Flows: tasks begin in the order that their accesses ask for.
#include <gtest/gtest.h>
#include <teff/flow.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

TEST(flow, a_chain_on_one_object_runs_in_order) {
  on_runtimes([](runtime& rt) {
    const auto chain = [&] {
      flow f{rt};
      std::vector<int> order;
      int end = 0;
      for (int i = 0; i < 1000; ++i) f.task(inout(end), [&order, i] { order.push_back(i); });
      f.wait();
      std::vector<int> expected(1000);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(order, expected);
    };
    chain();
    rt.run(chain);
  });
}

TEST(flow, readers_run_after_the_writer_before_them_and_before_the_one_after) {
  on_runtimes([](runtime& rt) {
    const auto many = [&] {
      flow f{rt};
      long value = 0;
      std::atomic<int> wrong{0};
      for (int round = 0; round < 50; ++round) {
        f.task(inout(value), [&value, round] { value = round; });
        for (int i = 0; i < 20; ++i) f.task(in(value), [&, round] { wrong += value != round; });
      }
      f.wait();
      EXPECT_EQ(wrong, 0);
    };
    many();
    rt.run(many);
  });
}

TEST(flow, a_task_waits_for_all_that_it_names) {
  runtime rt{{.workers = 4}};
  flow f{rt};
  std::array<int, 8> x{};
  for (auto& each : x) f.task(out(each), [&each] { each = 1; });
  int sum = 0;
  std::vector<access> all;
  for (auto& each : x) all.push_back(in(each));
  f.task(all, out(sum), [&] { sum = std::accumulate(x.begin(), x.end(), 0); });
  f.wait();
  EXPECT_EQ(sum, 8);
}

TEST(flow, more_tasks_than_may_be_outstanding_are_made_in_bounded_memory) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::atomic<long> outstanding{0};
    std::atomic<long> most{0};
    std::array<long, 64> x{};
    for (long i = 0; i < 50000; ++i) {
      const long now = ++outstanding;
      if (now > most) most = now;
      f.task(inout(x[static_cast<std::size_t>(i) % x.size()]), [&, i] {
        ++x[static_cast<std::size_t>(i) % x.size()];
        --outstanding;
      });
    }
    f.wait();
    EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0L), 50000);
    EXPECT_LE(most, 5000);
  });
}

TEST(flow, tasks_of_many_objects_that_are_named_once_are_forgotten) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::vector<int> x(100000);
  for (auto& each : x) f.task(inout(each), [&each] { each = 1; });
  for (auto& each : x) f.task(inout(each), [&each] { ++each; });
  f.wait();
  EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0), 200000);
}

TEST(flow, tasks_made_in_a_task_end_before_it_does) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<int, 10> x{};
    int sum = 0;
    for (int round = 0; round < 20; ++round) {
      f.task(inout(x), [&] {
        for (int twice = 0; twice < 2; ++twice)
          for (auto& each : x) f.task(inout(each), [&each] { ++each; });
      });
      f.task(in(x), inout(sum), [&] { sum += std::accumulate(x.begin(), x.end(), 0); });
    }
    f.wait();
    EXPECT_EQ(sum, 20 * (20 + 400) / 2);
  });
}

TEST(flow, an_exception_drops_what_has_not_begun_and_wait_throws_it) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    f.task(inout(x), [] { throw std::runtime_error("first"); });
    for (int i = 0; i < 100; ++i) f.task(inout(x), [&x] { ++x; });
    EXPECT_EQ(text_of<std::runtime_error>([&] { f.wait(); }), "first");
    EXPECT_EQ(x, 0);
    f.task(inout(x), [&x] { ++x; });
    f.wait();
    EXPECT_EQ(x, 1);
  });
}

TEST(flow, a_cancelled_flow_drops_what_has_not_begun_until_wait_has_returned) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  f.task(inout(x), [&] { f.cancel(); });
  for (int i = 0; i < 100; ++i) f.task(inout(x), [&x] { ++x; });
  f.wait();
  EXPECT_EQ(x, 0);
  f.task(inout(x), [&x] { ++x; });
  f.wait();
  EXPECT_EQ(x, 1);
}

TEST(flow, a_body_is_destroyed_when_its_task_has_ended) {
  runtime rt{{.workers = 2}};
  const auto kept = std::make_shared<int>(0);
  int x = 0;
  {
    flow f{rt};
    for (int i = 0; i < 10; ++i) f.task(inout(x), [kept] { ++*kept; });
    f.wait();
    EXPECT_EQ(kept.use_count(), 1);
  }
  EXPECT_EQ(*kept, 10);
}

TEST(flow, a_task_with_a_place_runs_there) {
  on_runtimes([](runtime& rt) {
    const auto placed = [&] {
      flow f{rt};
      std::atomic<int> wrong{0};
      std::array<int, 8> x{};
      for (unsigned i = 0; i < 400; ++i)
        f.task(task_options{.place = i % 8}, inout(x[i % 8]), [&, i] {
          ++x[i % 8];
          wrong += worker_index() != i % 8 % rt.workers();
        });
      f.wait();
      EXPECT_EQ(wrong, 0);
      EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0), 400);
    };
    placed();
    rt.run(placed);
  });
}

TEST(flow, of_tasks_that_become_ready_together_the_one_with_the_highest_priority_runs_first) {
  runtime rt{{.workers = 2}};
  std::vector<int> order;
  rt.run([&] {
    flow f{rt};
    int gate = 0;
    f.task(task_options{.priority = 1, .place = 1}, inout(gate), [] {});
    for (int i = 0; i < 10; ++i)
      f.task(task_options{.priority = i, .place = 0}, in(gate), [&order, i] { order.push_back(i); });
    f.task(task_options{.place = 1}, inout(gate), [] {});
    f.wait();
  });
  EXPECT_EQ(order.size(), 10U);
}

TEST(flow, wait_within_a_task_of_the_flow_is_refused) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    f.task(inout(x), [&] { f.wait(); });
    EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("within a task of the same flow"), std::string::npos);
  });
}

TEST(flow, wait_for_an_object_leaves_the_others) {
  on_runtimes([](runtime& rt) {
    const auto check = [&] {
      flow f{rt};
      int a = 0;
      int b = 0;
      for (int i = 1; i <= 100; ++i) {
        f.task(inout(a), [&a] { ++a; });
        f.task(inout(b), [&b] { ++b; });
        f.wait(in(a));
        EXPECT_EQ(a, i);
      }
      f.wait();
      EXPECT_EQ(b, 100);
    };
    check();
    rt.run(check);
  });
}

TEST(flow, an_object_named_twice_in_one_task_counts_once) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<int, 4> x{};
    for (int i = 0; i < 100; ++i) {
      f.task(in(x), inout(x[1]), in(x[2]), [&x] { ++x[1]; });
      f.task(in(x), in(x), [] {});
    }
    f.wait();
    EXPECT_EQ(x[1], 100);
  });
}

TEST(flow, a_section_outside_its_range_is_refused) {
  std::vector<double> x(10);
  EXPECT_NE(text_of<misuse>([&] { static_cast<void>(section(x, 5, 6)); }).find("ends at element 11"),
            std::string::npos);
  EXPECT_NE(text_of<misuse>([&] { static_cast<void>(section(x, 0, 3, 3, 4)); }).find("ends at element 11"),
            std::string::npos);
}

}  // namespace
}  // namespace teff::test
