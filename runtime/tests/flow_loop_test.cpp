// Worksharing tasks of a flow: one task for the dependences, many workers for its chunks.
#include <gtest/gtest.h>
#include <teff/flow.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// Iterations of about a microsecond: worth a wake if there are many.
void spin() {
  static volatile int at = 0;
  for (int i = 0; i < 500; ++i) static_cast<void>(at);
}

TEST(flow_loop, each_iteration_runs_once_and_a_task_that_follows_sees_all) {
  on_runtimes([](runtime& rt) {
    const auto all = [&] {
      flow f{rt};
      for (const std::size_t n : {0UL, 1UL, 3UL, 100UL, 5000UL}) {
        std::vector<int> x(n);
        long sum = 0;
        f.task_for(0, n, out(x), [&](range r) {
          for (const auto i : r) ++x[static_cast<std::size_t>(i)];
        });
        f.task_for(0, static_cast<int>(n), {.chunk = 64}, inout(x),
                   [&](int i) { ++x[static_cast<std::size_t>(i)]; });
        f.task_for(0U, n, {.chunk = 7}, inout(x), [&](std::ptrdiff_t first, std::ptrdiff_t last) {
          for (; first < last; ++first) ++x[static_cast<std::size_t>(first)];
        });
        f.task(in(x), inout(sum), [&] { sum = std::accumulate(x.begin(), x.end(), 0L); });
        f.wait();
        EXPECT_EQ(sum, static_cast<long>(3 * n));
        EXPECT_TRUE(std::ranges::all_of(x, [](int each) { return each == 3; }));
      }
    };
    all();
    rt.run(all);
  });
}

TEST(flow_loop, a_generic_body_is_called_with_one_iteration) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::vector<std::ptrdiff_t> x(100);
  f.task_for(0, 100, inout(x), [&](auto i) { x[static_cast<std::size_t>(i)] = i; });
  f.wait();
  EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0L), 4950);
}

TEST(flow_loop, a_reduction_adds_the_private_copies_of_all_workers_in_every_iteration_of_a_replay) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    long sum = 1;
    std::array<bool, 4> seen{};
    long rounds = 0;
    long wrong = 0;
    auto step = f.record([&] {
      f.task_for(0, 3000, reduction(sum), [](int i, long& mine) {
        spin();
        mine += i;
      });
      f.task_for(0, 4, reduction(seen, std::logical_or<>()), reduction(sum),
                 [](range r, std::span<bool> mine, long& more) {
                   for (const auto i : r) mine[static_cast<std::size_t>(i)] = true, more += 250;
                 });
      f.task(in(sum), inout(rounds), [&] { wrong += sum != 1 + ++rounds * (2999L * 1500 + 1000) ? 1 : 0; });
    });
    step.replay(50);
    EXPECT_EQ(rounds, 51);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(seen, (std::array{true, true, true, true}));
  });
}

TEST(flow_loop, a_replay_forgets_the_private_copies_of_one_that_failed) {
  runtime rt{{.workers = 4}};
  flow f{rt};
  std::atomic<bool> fails{false};
  long sum = 0;
  auto step = f.record([&] {
    f.task_for(0, 3000, {.chunk = 1}, reduction(sum),
               [&](std::ptrdiff_t first, std::ptrdiff_t last, long& mine) {
                 for (; first < last; ++first) {
                   spin();
                   if (first == 1700 && fails) throw std::runtime_error("chunk");
                   ++mine;
                 }
               });
  });
  EXPECT_EQ(sum, 3000);
  fails = true;
  EXPECT_THROW(step.replay(2), std::runtime_error);
  fails = false;
  sum = 0;
  step.replay(4);
  EXPECT_EQ(sum, 4 * 3000);
}

TEST(flow_loop, a_range_may_begin_below_zero) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::atomic<long> sum{0};
  f.task_for(-10, 5, [&](int i) { sum += i; });
  f.wait();
  EXPECT_EQ(sum, -45);
}

TEST(flow_loop, no_chunk_but_the_last_is_shorter_than_the_minimum) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::atomic<int> wrong{0};
    std::atomic<std::size_t> all{0};
    for (int round = 0; round < 20; ++round)
      f.task_for(0, 1000, {.chunk = 64}, [&](range r) {
        wrong += r.first % 64 != 0 || (r.size() < 64 && r.last != 1000);
        all += r.size();
      });
    f.wait();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(all, 20000U);
  });
}

TEST(flow_loop, other_workers_join_while_the_first_one_runs_chunks) {
  for (const unsigned workers : {2U, 4U}) {
    runtime rt{{.workers = workers}};
    flow f{rt};
    std::vector<std::atomic<bool>> seen(workers);
    std::atomic<unsigned> joined{0};
    std::atomic<int> ran{0};
    f.task_for(0, 20000, [&](range r) {
      for (std::size_t i = 0; i < r.size(); ++i) spin();
      if (!seen[*worker_index()].exchange(true)) ++joined;
      // From here on, no chunk ends before all workers have one.
      if (++ran > 20)
        while (joined < workers) std::this_thread::yield();
    });
    f.wait();
    EXPECT_EQ(joined, workers);
  }
}

// No barrier: a chunk waits for a task that the other worker runs after its own last chunk.
TEST(flow_loop, a_worker_that_finds_no_chunk_runs_other_tasks_while_a_chunk_runs_elsewhere) {
  runtime rt{{.workers = 2}};
  for (const bool last_waits : {false, true}) {
    flow f{rt};
    std::atomic<bool> told{false};
    std::atomic<bool> ended{false};
    std::vector<int> x(20000);
    f.task_for(0, x.size(), {.chunk = 1}, out(x), [&](range r) {
      for (const auto i : r) {
        spin();
        if (i == (last_waits ? 19999 : 100))
          while (!told) std::this_thread::yield();
        x[static_cast<std::size_t>(i)] = 1;
      }
    });
    f.task([&] { told = true; });
    f.task(in(x), [&] { ended = std::accumulate(x.begin(), x.end(), 0) == 20000; });
    f.wait();
    EXPECT_TRUE(ended);
  }
}

TEST(flow_loop, a_chunk_that_throws_ends_the_loop_and_the_flow_goes_on_after_wait) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::vector<int> x(100000);
    bool follows = false;
    std::atomic<int> ran{0};
    for (int round = 0; round < 10; ++round) {
      f.task_for(0, x.size(), {.chunk = 1}, out(x), [&](range r) {
        ++ran;
        if (r.first <= 1000 && r.last > 1000) throw std::runtime_error("chunk");
        spin();
      });
      f.task(in(x), [&] { follows = true; });
      EXPECT_THROW(f.wait(), std::runtime_error);
      EXPECT_FALSE(follows);
    }
    EXPECT_LT(ran, 1000000);
    f.task_for(0, x.size(), out(x), [&](int i) { x[static_cast<std::size_t>(i)] = 1; });
    f.wait();
    EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0), 100000);
  });
}

TEST(flow_loop, a_loop_of_a_cancelled_flow_runs_nothing) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::atomic<int> ran{0};
  f.cancel();
  f.task_for(0, 1000, [&](range) { ++ran; });
  f.wait();
  EXPECT_EQ(ran, 0);
}

TEST(flow_loop, bodies_are_destroyed_once_when_their_task_has_ended) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    const auto kept = std::make_shared<int>(0);
    int x = 0;
    for (int i = 0; i < 500; ++i) f.task_for(0, 300, inout(x), [kept](range) {});
    f.wait();
    EXPECT_EQ(kept.use_count(), 1);
  });
}

TEST(flow_loop, worksharing_tasks_within_tasks_wait_for_each_other_there) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::vector<long> x(3000, 1);
    long sum = 0;
    for (int round = 0; round < 5; ++round) {
      f.task(weak(inout(x)), [&] {
        f.task_for(0, x.size(), inout(x), [&](int i) { x[static_cast<std::size_t>(i)] *= 2; });
        f.task_for(0, x.size(), inout(x), [&](int i) { x[static_cast<std::size_t>(i)] += 1; });
      });
      f.task(in(x), inout(sum), [&] { sum = std::accumulate(x.begin(), x.end(), 0L); });
    }
    f.wait();
    EXPECT_EQ(sum, 3000 * 63);
  });
}

TEST(flow_loop, commutative_worksharing_tasks_do_not_run_at_the_same_time) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::vector<long> x(2000);
    for (int round = 0; round < 20; ++round)
      f.task_for(0, x.size(), commutative(x), [&](int i) { ++x[static_cast<std::size_t>(i)]; });
    f.wait();
    EXPECT_EQ(std::accumulate(x.begin(), x.end(), 0L), 40000);
  });
}

TEST(flow_loop, a_chunk_may_wait_for_a_loop_of_its_own) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::atomic<long> sum{0};
  f.task_for(0, 300, {.chunk = 1}, [&](range r) {
    for (std::size_t i = 0; i < r.size(); ++i)
      parallel_for(0, 2000, [&](int) { sum.fetch_add(1, std::memory_order_relaxed); });
  });
  f.wait();
  EXPECT_EQ(sum, 600000);
}

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const misuse& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(flow_loop, a_chunk_that_makes_a_task_is_refused_by_name) {
  for (const bool checked : {false, true}) {
    runtime rt{{.workers = 2}};
    flow f{rt};
    f.check(checked);
    EXPECT_NE(refusal([&] {
                f.task_for(0, 10, [&](range) { f.task([] {}); });
                f.wait();
              }).find("called in a chunk of a worksharing task"),
              std::string::npos);
  }
}

TEST(flow_loop, a_weak_access_is_refused_by_name) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  int x = 0;
  EXPECT_NE(refusal([&] { f.task_for(0, 10, weak(inout(x)), [&](range) {}); }).find("weak access"),
            std::string::npos);
  f.wait();
}

TEST(flow_loop, a_checked_flow_runs_it_in_order_and_finds_undeclared_writes) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  f.check(true);
  std::vector<int> order;
  std::vector<int> x(100);
  f.task_for(0, 100, out(x), [&](int i) { order.push_back(i); });
  f.wait();
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_EQ(order.size(), 100U);
  f.task_for(0, 100, in(x), [&](int i) { x[static_cast<std::size_t>(i)] = 7; });
  EXPECT_NE(refusal([&] { f.wait(); }).find("has written memory"), std::string::npos);
}

TEST(flow_loop, a_checked_flow_refuses_to_be_recorded) {
  runtime rt{{.workers = 1}};
  flow f{rt};
  f.check(true);
  EXPECT_NE(refusal([&] { static_cast<void>(f.record([] {})); }).find("while the flow is checked"),
            std::string::npos);
}

TEST(flow_loop, task_loop_makes_tasks_whose_accesses_follow_from_their_ranges) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::vector<long> x(200);
    std::vector<long> y(200);
    std::atomic<int> wrong{0};
    for (const std::size_t tasks : {1UL, 3UL, 8UL, 5000UL}) {
      for (long round = 1; round <= 4; ++round) {
        f.task_loop(
            0, x.size(), {.tasks = tasks}, [&](range r) { return out(section(x, r)); },
            [&, round](int i) { x[static_cast<std::size_t>(i)] = round; });
        f.task_loop(
            0, x.size(), {.tasks = tasks, .chunk = 5},
            [&](range r) { return std::vector<access>{in(section(x, r)), out(section(y, r))}; },
            [&, round](range r) {
              for (const auto i : r) {
                wrong += x[static_cast<std::size_t>(i)] != round;
                y[static_cast<std::size_t>(i)] += round;
              }
            });
      }
      long sum = 0;
      f.task_loop(0, 1, {}, in(y), inout(sum), [&](range) { sum = std::accumulate(y.begin(), y.end(), 0L); });
      f.wait();
      EXPECT_EQ(sum % 2000, 0);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(y.front(), 40);
  });
}

TEST(flow_loop, task_loop_over_an_empty_range_calls_no_function) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::vector<int> y(1);
  int calls = 0;
  const auto all_but_the_ends = [&](range r) {
    ++calls;
    return inout(section(y, r));
  };
  f.task_loop(1, y.size() - 1, {.tasks = 4}, all_but_the_ends, [&](range) { ++calls; });
  f.task_loop(1, -1, {.tasks = 4}, all_but_the_ends, [&](range) { ++calls; });
  f.wait();
  EXPECT_EQ(calls, 0);
}

TEST(flow_loop, a_replay_runs_recorded_loops_again_on_all_workers) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::vector<long> x(4000, 1);
    std::vector<long> y(4000, 0);
    auto step = f.record([&] {
      f.task_for(0, x.size(), in(x), out(y), [&](range r) {
        for (const auto i : r) {
          spin();
          y[static_cast<std::size_t>(i)] =
              x[static_cast<std::size_t>(i)] + x[(static_cast<std::size_t>(i) + 1) % x.size()];
        }
      });
      f.task_for(0, 10, {.chunk = 2}, inout(x[5]), [&](range) {});
      f.task_for(0, x.size(), in(y), out(x),
                 [&](int i) { x[static_cast<std::size_t>(i)] = y[static_cast<std::size_t>(i)] % 1000003; });
    });
    EXPECT_EQ(step.tasks(), 3U);
    step.replay(20);
    step.replay(5);
    EXPECT_TRUE(std::ranges::all_of(x, [&](long each) { return each == x[0]; }));
    long expected = 1;
    for (int i = 0; i < 26; ++i) expected = 2 * expected % 1000003;
    EXPECT_EQ(x[0], expected);
  });
}

TEST(flow_loop, a_replayed_loop_that_only_reads_runs_each_iteration_once_an_iteration) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::vector<long> x(3000);
    std::atomic<long> ran{0};
    auto step = f.record([&] {
      f.task_for(0, x.size(), in(x), [&](range r) {
        for (std::size_t i = 0; i < r.size(); ++i) spin();
        ran += static_cast<long>(r.size());
      });
    });
    step.replay(30);
    EXPECT_EQ(ran, 31L * 3000);
  });
}

TEST(flow_loop, a_chunk_that_throws_ends_the_replay_and_the_next_one_runs_all_again) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::vector<int> x(3000);
    std::atomic<bool> fails{false};
    auto step = f.record([&] {
      f.task_for(0, x.size(), {.chunk = 1}, inout(x), [&](range r) {
        for (const auto i : r) {
          spin();
          if (i == 1700 && fails) throw std::runtime_error("chunk");
          ++x[static_cast<std::size_t>(i)];
        }
      });
    });
    fails = true;
    EXPECT_THROW(step.replay(3), std::runtime_error);
    fails = false;
    x.assign(x.size(), 0);
    step.replay(4);
    EXPECT_TRUE(std::ranges::all_of(x, [](int each) { return each == 4; }));
  });
}

TEST(flow_loop, an_inner_task_of_a_crowded_flow_runs_at_its_place) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::atomic<int> wrong{0};
  std::atomic<bool> open{false};
  int x = 0;
  // 5000 tasks that wait make the flow crowded.
  rt.run([&] {
    f.task(inout(x), [&] {
      while (!open) std::this_thread::yield();
    });
    f.task([&] {
      for (int i = 0; i < 10000; ++i)
        f.task(task_options{.place = static_cast<unsigned>(i % 2)},
               [&, i] { wrong += *worker_index() != static_cast<unsigned>(i % 2); });
      open = true;
    });
    f.wait();
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace teff::test
