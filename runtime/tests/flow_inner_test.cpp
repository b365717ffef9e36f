// Inner tasks of a flow: where they are made, what waits for them, and on which stack they run.
#include <gtest/gtest.h>
#include <teff/attach.hpp>
#include <teff/blocking.hpp>
#include <teff/flow.hpp>
#include <teff/loops.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>

#include "workers.hpp"

namespace teff::test {
namespace {

// The nodes of a tree whose leaves are `depth` below, each counted by a task that waits for those below it.
struct count_nodes {
  flow& f;
  unsigned depth;
  long& nodes;

  void operator()() const {
    long below[2]{};
    if (depth != 0)
      for (long& each : below) f.task(out(each), count_nodes{f, depth - 1, each});
    f.wait();
    nodes = below[0] + below[1] + 1;
  }
};

TEST(flow_inner, a_body_waits_for_the_tasks_that_it_has_made) {
  on_runtimes([](runtime& rt) {
    const auto check = [&] {
      flow f{rt};
      std::array<long, 20> nodes{};
      for (long& each : nodes) f.task(out(each), count_nodes{f, 8, each});
      f.wait();
      for (const long each : nodes) EXPECT_EQ(each, 511);
    };
    check();
    rt.run(check);
  });
}

TEST(flow_inner, a_body_waits_for_an_object_and_leaves_the_others) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int all = 0;
    f.task(inout(all), [&] {
      int a = 0;
      int b = 0;
      for (int i = 1; i <= 100; ++i) {
        f.task(inout(a), [&a] { ++a; });
        f.task(inout(b), [&b] { ++b; });
        f.wait(in(a));
        EXPECT_EQ(a, i);
      }
      f.wait();
      all = a + b;
    });
    f.wait();
    EXPECT_EQ(all, 200);
  });
}

TEST(flow_inner, a_body_waits_for_events_and_for_tasks_on_other_workers) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<int, 16> x{};
    std::array<bool, 16> wrong{};
    for (std::size_t i = 0; i < x.size(); ++i)
      f.task(task_options{.place = static_cast<unsigned>(i)}, [&, i] {
        f.task(task_options{.place = static_cast<unsigned>(i + 1)}, commutative(x[i]),
               [&x, i] { attach([&x, i, left = 3]() mutable { return --left == 0 && (x[i] = 1) == 1; }); });
        f.wait();
        wrong[i] = x[i] != 1;
      });
    f.wait();
    EXPECT_EQ(wrong, (std::array<bool, 16>{}));
  });
}

TEST(flow_inner, a_wait_in_a_body_throws_what_an_inner_task_has_thrown) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    bool goes_on = false;
    f.task([&] {
      f.task([] { throw std::runtime_error("an inner task"); });
      f.wait();
      goes_on = true;
    });
    EXPECT_EQ(text_of<std::runtime_error>([&] { f.wait(); }), "an inner task");
    EXPECT_FALSE(goes_on);
  });
}

TEST(flow_inner, a_wait_that_may_need_tasks_outside_is_refused) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    f.task(weak(inout(x)), [&] { f.wait(); });
    EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("a weak access"), std::string::npos);
    f.task_for(0, 1, [&](int) { f.wait(in(x)); });
    EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("a chunk of a worksharing task"), std::string::npos);
    f.task([&] { static_cast<void>(f.record([] {})); });
    EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("within a task of the same flow"), std::string::npos);
    f.check(true);
    f.task(out(x), [&] {
      f.task(out(x), [&x] { x = 1; });
      f.wait();
      EXPECT_EQ(x, 1);
    });
    f.wait();
  });
}

TEST(flow_inner, tasks_that_another_thread_than_the_bodys_makes_are_refused) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    f.task(out(x), [&] { blocking([&] { f.task(out(x), [&x] { x = 1; }); }); });
    EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("not on the thread of its body"), std::string::npos);
    f.task(out(x), [&] { blocking([&] { static_cast<void>(hold_end()); }); });
    EXPECT_NE(text_of<misuse>([&] { f.wait(); }).find("outside the body"), std::string::npos);
  });
}

TEST(flow_inner, each_iteration_of_a_loop_in_a_body_makes_inner_tasks_or_is_refused) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<std::atomic<bool>, 200> refused{};
    std::array<int, 200> x{};
    int missing = 0;
    for (int round = 0; round < 20; ++round) {
      f.task(out(x), [&, round] {
        parallel_for(0, 200, [&](int i) {
          const auto at = static_cast<std::size_t>(i);
          refused[at] = false;
          try {
            f.task(out(x[at]), [&, at, round] { x[at] = round + 1; });
          } catch (const misuse&) {
            refused[at] = true;
          }
        });
      });
      f.task(in(x), inout(missing), [&, round] {
        for (std::size_t i = 0; i < x.size(); ++i) missing += !refused[i] && x[i] != round + 1;
      });
    }
    f.wait();
    EXPECT_EQ(missing, 0);
  });
}

TEST(flow_inner, a_single_worker_has_run_what_inner_tasks_left_in_its_queues) {
  runtime rt{{.workers = 1}};
  rt.run([&] {
    for (int i = 0; i < 100; ++i) {
      flow f{rt};
      int sum = 0;
      f.task([&] { f.task(task_options{.place = 0}, commutative(sum), [&sum] { ++sum; }); });
      f.wait();
      ASSERT_EQ(sum, 1);
    }
  });
}

// A node of a list makes tasks for its work, and one for the next node.
struct visit_node {
  flow& f;
  std::atomic<long>& work;
  long left;

  void operator()() const {
    for (int i = 0; i < 3; ++i) f.task([&n = work] { ++n; });
    if (left != 0) f.task(visit_node{f, work, left - 1});
  }
};

TEST(flow_inner, a_task_that_makes_the_next_one_needs_no_deep_stack) {
  for (const unsigned workers : {1U, 2U}) {
    runtime rt{{.workers = workers, .stack_size = std::size_t{1} << 20}};
    flow f{rt};
    std::atomic<long> work{0};
    constexpr long nodes = 20'000;
    // With many bodies outstanding, each task runs where it is made.
    f.task([&] {
      int x = 0;
      int list = 0;
      held_task end;
      std::atomic<bool> is_held{false};
      f.task(out(x), [&] {
        end = hold_end();
        is_held = true;
      });
      while (!is_held) std::this_thread::yield();
      for (int i = 0; i < 5000; ++i) f.task(in(x), [] {});
      f.task(out(list), visit_node{f, work, nodes - 1});
      f.wait(in(list));
      end.release();
      f.wait();
    });
    f.wait();
    EXPECT_EQ(work, 3 * nodes);
  }
}

TEST(flow_inner, a_creator_that_is_held_back_goes_on_if_all_tasks_wait_for_events) {
  on_runtimes([](runtime& rt) {
    const auto check = [&] {
      flow f{rt};
      int x = 0;
      std::atomic<bool> sent{false};
      f.task(out(x), [&] { attach([&] { return sent.load(); }); });
      for (int i = 0; i < 10'000; ++i) f.task(in(x), [] {});
      f.task([&] { sent = true; });
      f.wait();
    };
    check();
    rt.run(check);
  });
}

}  // namespace
}  // namespace teff::test
