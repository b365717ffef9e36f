// Threads that are no workers call the runtime: they take part as guests of its workers.
#include "scheduler/scheduler.hpp"
#include "workers.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace teff::test {
namespace {

// Until all of its workers' own threads sleep: their places are free.
void wait_until_parked(runtime& rt) {
  while (rt.counters().parks < rt.workers()) std::this_thread::yield();
}

void wait_until_asleep(runtime& rt) {
  for (unsigned each = 0; each < rt.workers(); ++each) {
    while (!detail::private_access::internals(rt).gate().is_asleep(each)) std::this_thread::yield();
  }
}

TEST(guests, a_call_runs_on_the_calling_thread_and_as_one_of_the_workers) {
  runtime rt{{.workers = 3}};
  wait_until_parked(rt);
  const auto me = std::this_thread::get_id();
  int on_this_thread = 0;
  // A worker runs the call if the call before has woken every worker, and none of them has gone to sleep
  // again or makes room in time.
  for (int i = 0; i < 100 || on_this_thread == 0; ++i) {
    rt.run([&] {
      on_this_thread += std::this_thread::get_id() == me ? 1 : 0;
      EXPECT_LT(*worker_index(), 3U);
      EXPECT_EQ(detail::this_worker().runtime, &detail::private_access::internals(rt));
      EXPECT_EQ(rt.run([] { return fib(5); }), 5);
    });
    EXPECT_EQ(detail::this_worker().runtime, nullptr);
  }
}

TEST(guests, calls_that_share_nothing_wake_nobody) {
  runtime rt{{.workers = 3}};
  wait_until_parked(rt);
  const auto before = rt.counters();
  for (int i = 0; i < 1000; ++i) rt.run([] {});
  const auto after = rt.counters();
  EXPECT_EQ(after.wakes, before.wakes);
  EXPECT_EQ(after.parks, before.parks + 1000);  // the worker, not its own thread
  EXPECT_EQ(after.jobs, before.jobs + 1000);
}

TEST(guests, a_worker_that_spins_gives_its_place_to_a_caller) {
  runtime rt{{.workers = 1, .spin = std::chrono::hours(24) * 365}};
  const auto me = std::this_thread::get_id();
  bool here = false;
  while (!here) here = rt.run([] { return std::this_thread::get_id(); }) == me;
}

struct link {
  const link* before;
  std::byte room[512];
};
// Stands on `depth` links on the stack.
long dive(int depth, const link* before) {
  const link mine{before, {}};
  if (depth == 0) {
    long links = 0;
    for (const auto* each = &mine; each != nullptr; each = each->before) ++links;
    return links;
  }
  auto [a, b] = join([&] { return dive(depth - 1, &mine); }, [] { return 0L; });
  return a + b;
}

TEST(guests, have_as_much_stack_as_workers) {
  // The address sanitizer's frames are larger, and the thread sanitizer keeps at most 2^16 frames.
  const int depth = under_thread_sanitizer ? 5000 : under_address_sanitizer ? 20'000 : 100'000;
  for (const unsigned workers : {1U, 2U}) {
    runtime rt{{.workers = workers}};
    wait_until_parked(rt);
    EXPECT_EQ(rt.run([=] { return dive(depth, nullptr); }), depth + 1);
  }
}

TEST(guests, pass_on_exceptions_that_tasks_throw) {
  on_runtimes([](runtime& rt) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_THROW(rt.run([] { join([] { fib(10); }, [] { throw std::out_of_range("thrown"); }); }),
                   std::out_of_range);
      EXPECT_THROW(rt.run([] { scope().spawn([] { throw std::string("thrown"); }); }), std::string);
    }
  });
}

TEST(guests, called_while_an_exception_leaves_a_block_run_scopes_to_their_end) {
  runtime rt{{.workers = 2}};
  struct calls_at_end {
    runtime& rt;
    std::atomic<int>& ran;
    ~calls_at_end() {
      rt.run([this] {
        scope all;
        for (int i = 0; i < 10; ++i) all.spawn([this] { ++ran; });
      });
    }
  };
  std::atomic<int> ran{0};
  const auto throws = [&] {
    const calls_at_end at_end{rt, ran};
    throw std::out_of_range("thrown");
  };
  EXPECT_THROW(throws(), std::out_of_range);
  EXPECT_EQ(ran, 10);
}

TEST(guests, have_scopes_of_their_own_beside_one_that_is_open_outside) {
  runtime rt{{.workers = 2}};
  std::atomic<int> outside{0};  // two tasks of one scope may run at a time
  std::atomic<int> inside{0};
  scope open;
  open.spawn([&] { ++outside; });
  rt.run([&] {
    scope all;
    for (int i = 0; i < 100; ++i) all.spawn([&] { ++inside; });
  });
  open.spawn([&] { ++outside; });
  open.wait();
  EXPECT_EQ(outside, 2);
  EXPECT_EQ(inside, 100);
}

TEST(guests, come_from_many_threads_that_end) {
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{{.workers = workers}};
    std::atomic<long> sum{0};
    for (int round = 0; round < 20; ++round) {
      std::vector<std::thread> callers;
      for (int caller = 0; caller < 6; ++caller) {
        callers.emplace_back([&] {
          for (int i = 0; i < 10; ++i) sum += rt.run([] { return fib(12); });
        });
      }
      for (auto& each : callers) each.join();
    }
    EXPECT_EQ(sum, 20 * 6 * 10 * 144);
  }
}

TEST(guests, may_end_their_threads_while_others_submit_requests) {
  runtime rt{{.workers = 2}};
  std::atomic<bool> stop{false};
  std::thread submitter([&] {
    while (!stop) rt.submit([] { fib(8); }).get();
  });
  for (int i = 0; i < 300; ++i) std::thread([&] { rt.run([] { fib(8); }); }).join();
  stop = true;
  submitter.join();
}

TEST(guests, go_from_one_runtime_to_another_and_outlive_them) {
  std::vector<std::unique_ptr<runtime>> runtimes;
  for (int i = 0; i < 3; ++i) runtimes.push_back(std::make_unique<runtime>(runtime_options{.workers = 2}));
  for (int i = 0; i < 300; ++i) {
    auto& rt = runtimes[static_cast<std::size_t>(i % 3)];
    EXPECT_EQ(rt->run([] { return fib(10); }), 55);
    if (i % 30 == 0) rt = std::make_unique<runtime>(runtime_options{.workers = 2});
  }
}

TEST(guests, of_one_runtime_may_call_another) {
  runtime outer{{.workers = 2}}, inner{{.workers = 2}};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(outer.run([&] {
      const auto before = detail::this_worker();
      const auto value = inner.run([] { return fib(10); });
      EXPECT_EQ(detail::this_worker().runtime, before.runtime);
      EXPECT_EQ(detail::this_worker().index, before.index);
      return value + fib(5);
    }),
              60);
  }
}

TEST(guests, leave_the_work_that_came_for_their_worker_to_its_own_thread) {
  runtime rt{{.workers = 2}};
  struct told_job : detail::job {
    std::atomic<bool> ran{false};
    unsigned on = 99;
  };
  for (int i = 0; i < 200; ++i) {
    told_job told;
    told.run = [](detail::job& self) noexcept {
      auto& me = static_cast<told_job&>(self);
      me.on = *worker_index();
      me.ran = true;
    };
    const auto mine = rt.run([&] {
      detail::submit_to(detail::private_access::internals(rt), *worker_index(), told);
      return *worker_index();
    });
    while (!told.ran) std::this_thread::yield();
    EXPECT_EQ(told.on, mine);
  }
}

TEST(guests, that_wait_for_a_graph_run_its_tasks) {
  runtime rt{{.workers = 1}};
  wait_until_parked(rt);
  std::atomic<int> ran{0};
  task_graph<int> graph{rt};
  graph.indegree([](int) { return 1; }).place([](int) { return 0U; }).body([&](int key) {
    ++ran;
    if (key % 100 != 0) graph.fulfill(key - 1);
  });
  for (int round = 0; round < 50; ++round) {
    graph.fulfill(99);
    graph.wait();
  }
  EXPECT_EQ(ran, 50 * 100);
}

// The dependences that a guest has fulfilled are settled when it leaves. Its worker may never run the graph
// again.
TEST(guests, leave_nothing_open_of_a_graph_whose_keys_they_fulfilled) {
  runtime rt{{.workers = 2, .bind = false}};
  wait_until_parked(rt);
  std::atomic<int> ran{0};
  task_graph<int> graph{rt};
  graph.indegree([](int) { return 2; }).body([&](int) { ++ran; });
  rt.run([&] { graph.fulfill(0); });
  std::latch in_its_place{1};
  std::latch graph_ended{1};
  std::thread other([&] {
    rt.run([&] {
      in_its_place.count_down();
      graph_ended.wait();
    });
  });
  in_its_place.wait();
  graph.fulfill(0);
  graph.wait();
  EXPECT_EQ(ran, 1);
  graph_ended.count_down();
  other.join();
}

// A task that the last body made ready is in no queue: it is kept to be run next. A guest may leave before.
TEST(guests, that_leave_a_task_behind_do_not_say_that_its_graph_rests) {
  constexpr int length = 200'000;  // so many are not run at one time
  for (const bool dense : {false, true}) {
    runtime rt{{.workers = 2, .bind = false}};
    wait_until_parked(rt);
    std::atomic<bool> begun{false}, may_end{false};
    std::atomic<int> ran{0};
    task_graph<int> graph{rt};
    if (dense) graph.dense(length);
    graph.indegree([](int) { return 1; }).body([&](int i) {
      ++ran;
      if (i == 300) may_end = true;
      if (i + 1 < length) graph.fulfill(i + 1);
    });
    rt.run([&] {
      auto other = rt.submit([&] {
        begun = true;
        while (!may_end) std::this_thread::yield();
      });
      while (!begun) std::this_thread::yield();
      graph.fulfill(0);
      other.get();  // runs tasks of the graph until that has ended
    });
    graph.wait();
    EXPECT_EQ(ran, length);
  }
}

TEST(guests, that_wait_for_a_graph_run_no_call_of_another_thread) {
  runtime rt{{.workers = 1}};
  task_graph<int> graph{rt};
  std::atomic<bool> submitted{false}, waited{false};
  graph.indegree([](int) { return 1; }).body([&](int) {
    while (!submitted) std::this_thread::yield();
    for (int i = 0; i < 100; ++i) std::this_thread::yield();
  });
  graph.fulfill(0);
  std::thread caller([&] {
    submitted = true;
    rt.run([&] {
      while (!waited) std::this_thread::yield();
    });
  });
  graph.wait();  // the thread that runs the call meanwhile needs this thread to go on
  waited = true;
  caller.join();
}

// The calling thread takes part if the worker's own thread sleeps and has left the seat. That thread may be
// up in each of a hundred replays, so further ones follow, each when all workers sleep, until the calling
// thread has run a task.
TEST(guests, take_part_in_a_replay_as_the_first_worker) {
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{{.workers = workers}};
    task_graph<int> graph{rt};
    graph.indegree([](int) { return 1; }).body([](int) {}).place([](int) { return 0U; });
    auto kept = record(graph, [&] { graph.fulfill(0); });
    const auto me = std::this_thread::get_id();
    int here = 0;
    const auto replay = [&](std::uint64_t times) {
      kept.replay(times, [&](int, std::uint64_t) {
        if (std::this_thread::get_id() == me) ++here;
        EXPECT_EQ(*worker_index(), 0U);
      });
    };
    wait_until_asleep(rt);
    for (std::uint64_t times = 1; times <= 100; ++times) replay(times);
    while (here == 0) {
      wait_until_asleep(rt);
      replay(1);
    }
    EXPECT_GT(here, 0);
  }
}

// Two threads call, and the first has the seat. The second thread submits its call, and a worker's thread
// runs the call. The seat's own thread may be up though all workers slept: then both try again.
TEST(guests, a_thread_that_finds_the_seat_taken_has_its_call_run_by_a_worker) {
  for (const unsigned workers : {2U, 3U}) {
    runtime rt{{.workers = workers}};
    for (bool has_seat = false; !has_seat;) {
      wait_until_asleep(rt);
      std::latch runs{1};
      std::atomic<bool> may_leave{false};
      std::thread sits([&] {
        rt.run([&] {
          has_seat = worker_index() == 0U;
          runs.count_down();
          while (has_seat && !may_leave) std::this_thread::yield();
        });
      });
      runs.wait();
      if (has_seat) {
        const auto ran_on = rt.run([] { return std::pair(std::this_thread::get_id(), worker_index()); });
        EXPECT_NE(ran_on.first, std::this_thread::get_id());
        EXPECT_NE(ran_on.second, 0U);
      }
      may_leave = true;
      sits.join();
    }
  }
}

// A thread that only submits leaves worker 0 to its own thread.
TEST(guests, requests_of_a_thread_that_waits_for_none_run_on_all_workers_at_once) {
  for (const unsigned workers : {1U, 2U, 3U}) {
    runtime rt{{.workers = workers}};
    std::latch all_run{workers};
    std::vector<future<void>> requests;
    for (unsigned i = 0; i < workers; ++i) requests.push_back(rt.submit([&] { all_run.arrive_and_wait(); }));
    all_run.wait();
    for (auto& each : requests) each.get();
  }
}

// The program calls the only worker for the first request. A thread that waits for the second request must
// not take the worker's place.
TEST(guests, an_older_request_begins_before_one_that_is_waited_for) {
  for (const int spin : {0, 50}) {
    runtime rt{{.workers = 1, .spin = std::chrono::microseconds(spin)}};
    for (int round = 0; round < 50; ++round) {
      wait_until_asleep(rt);
      std::atomic<bool> begun{false};
      auto older = rt.submit([&] { begun = true; });
      auto waited_for = rt.submit([&] {
        while (!begun) std::this_thread::yield();
      });
      waited_for.get();
      older.get();
    }
  }
}

// The thread runs the first, and the worker the next one, for which both wait, in whatever way they came
// before.
TEST(guests, a_request_that_a_guest_waits_for_by_other_means_begins) {
  runtime rt{{.workers = 2}};
  const auto spin = [] {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
    while (std::chrono::steady_clock::now() < until) continue;
  };
  for (int round = 0; round < 100; ++round) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      std::vector<future<void>> pieces;
      for (int i = 0; i < 8; ++i) pieces.push_back(rt.submit(spin));
      for (auto& each : pieces) each.get();
    }
    std::atomic<bool> begun{false};
    const auto wait_for_it = [&] {
      while (!begun) std::this_thread::yield();
    };
    auto first = rt.submit(wait_for_it);
    auto small = rt.submit(spin);
    auto awaited = rt.submit([&] { begun = true; });
    auto other = rt.submit(wait_for_it);
    first.get();
    small.get();
    awaited.get();
    other.get();
  }
}

TEST(guests, leave_a_request_to_a_worker_that_is_free) {
  runtime rt{{.workers = 2, .spin = std::chrono::microseconds(0)}};
  const auto main_thread = std::this_thread::get_id();
  for (int round = 0; round < 20; ++round) {
    wait_until_asleep(rt);
    auto ran_on = rt.submit([] { return std::this_thread::get_id(); });
    rt.run([&] {
      while (!ran_on.ready()) join([] {}, [] {});
    });
    ASSERT_NE(ran_on.get(), main_thread);
  }
}

// Each but the first waits for the one before it to begin, and main for them in any order: one of two workers
// always has one that ends.
TEST(guests, requests_that_wait_for_earlier_ones_to_begin_end_in_whatever_order_they_are_waited_for) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  runtime rt{{.workers = 2}};
  for (int round = 0; round < 300; ++round) {
    for (int repeat = 0; repeat < 5; ++repeat) {
      std::vector<future<int>> warm;
      for (int i = 0; i < 8; ++i) warm.push_back(rt.submit([i] { return i; }));
      for (auto& each : warm) static_cast<void>(each.get());
    }
    constexpr std::size_t count = 5;
    std::array<std::atomic<bool>, count> begun{};
    std::vector<future<void>> requests;
    for (std::size_t i = 0; i < count; ++i) {
      requests.push_back(rt.submit([&begun, i] {
        begun[i] = true;
        while (i != 0 && !begun[i - 1]) std::this_thread::yield();
      }));
    }
    std::shuffle(requests.begin(), requests.end(), random);
    for (auto& each : requests) each.get();
  }
}

TEST(guests, what_the_worker_was_called_for_begins_before_a_call_of_run) {
  for (const int spin : {0, 50}) {
    runtime rt{{.workers = 1, .spin = std::chrono::microseconds(spin)}};
    for (int round = 0; round < 50; ++round) {
      wait_until_asleep(rt);
      std::atomic<bool> begun{false};
      task_graph<int> graph{rt};
      graph.indegree([](int) { return 1; }).body([&](int) { begun = true; });
      graph.fulfill(0);
      rt.run([&] {
        while (!begun) std::this_thread::yield();
      });
      graph.wait();
    }
  }
}

TEST(guests, what_a_worker_was_called_for_may_wait_for_a_call_of_run) {
  runtime rt{{.workers = 2}};
  for (int round = 0; round < 200; ++round) {
    wait_until_asleep(rt);
    std::atomic<bool> begun{false};
    task_graph<int> graph{rt};
    graph.indegree([](int) { return 1; }).body([&](int) {
      while (!begun) std::this_thread::yield();
    });
    graph.fulfill(0);
    rt.run([&] { begun = true; });
    graph.wait();
  }
}

// Many threads at once, most of which find the seat taken.
TEST(guests, requests_and_graphs_of_many_threads_get_done_by_few_workers) {
  for (const unsigned workers : {1U, 2U}) {
    runtime rt{{.workers = workers}};
    std::atomic<int> ran{0};
    constexpr int threads = 6;
    constexpr int rounds = 100;
    {
      std::vector<std::jthread> all;
      for (int i = 0; i < threads; ++i) {
        all.emplace_back([&, i] {
          for (int round = 0; round < rounds; ++round) {
            if (i % 2 == 0) {
              rt.submit([&] { ++ran; }).get();
              continue;
            }
            task_graph<int> graph{rt};
            graph.indegree([](int) { return 1; }).body([&](int) { ++ran; });
            graph.fulfill(round);
            graph.wait();
          }
        });
      }
    }
    EXPECT_EQ(ran, threads * rounds);
  }
}

TEST(default_runtime, is_what_loops_outside_any_runtime_use) {
  std::vector<long> numbers(100'000);
  std::atomic<detail::scheduler*> on{nullptr};
  parallel_for(std::size_t{0}, numbers.size(), [&](std::size_t i) {
    numbers[i] = static_cast<long>(i);
    on = detail::this_worker().runtime;
  });
  EXPECT_EQ(on, &detail::private_access::internals(default_runtime()));
  EXPECT_EQ(detail::this_worker().runtime, nullptr);
  EXPECT_EQ(parallel_reduce(numbers, 0L), 100'000L * 99'999 / 2);
  parallel_sort(numbers, std::greater<>{});
  EXPECT_EQ(numbers.front(), 99'999);
  EXPECT_EQ(&default_runtime(), &default_runtime());
  EXPECT_THROW(parallel_for(0, 10, [](int) { throw std::out_of_range("thrown"); }), std::out_of_range);
}

TEST(default_runtime, is_not_used_within_another) {
  runtime rt{{.workers = 2}};
  std::atomic<int> elsewhere{0};
  rt.run([&] {
    parallel_for(0, 1000, [&](int) {
      elsewhere += detail::this_worker().runtime != &detail::private_access::internals(rt) ? 1 : 0;
    });
  });
  EXPECT_EQ(elsewhere, 0);
}

}  // namespace
}  // namespace teff::test
