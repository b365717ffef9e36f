// Bodies of a flow's tasks that are coroutines and await events.
#include <teff/attach.hpp>
#include <teff/flow.hpp>
#include <teff/future.hpp>
#include <teff/task_coroutine.hpp>

#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

TEST(task_coroutine, goes_on_when_its_events_have_completed_and_its_task_ends_after_it) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::atomic<int> happened{0};
    int a = 0;
    int b = 0;
    std::vector<int> seen;
    f.task(out(a), [&]() -> task_coroutine {
      for (int i = 1; i <= 3; ++i) {
        attach([&happened, i] { return happened.load() >= i; });
        co_await completed();
        seen.push_back(happened.load() >= i ? i : -1);
        // No event is left.
        co_await completed();
      }
      a = 7;
    });
    f.task(in(a), [&] { seen.push_back(a); });
    // Its worker is free meanwhile.
    for (int i = 0; i < 3; ++i) f.task(inout(b), [&] { ++happened; });
    f.wait();
    EXPECT_EQ(seen, (std::vector{1, 2, 3, 7}));
  });
}

TEST(task_coroutine, awaits_all_that_its_task_has_attached_and_every_handle) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::atomic<int> happened{0};
    held_task held;
    int a = 0;
    int b = 0;
    int seen = 0;
    std::atomic<bool> holds{false};
    f.task(out(a), [&]() -> task_coroutine {
      held = hold_end();
      hold_end().release();
      for (int i = 1; i <= 10; ++i) attach([&happened, i] { return happened.load() >= i; });
      holds = true;
      co_await completed();
      seen = happened;
    });
    f.task(out(b), [&] { attach([&] { return holds.load(); }); });
    for (int i = 0; i < 10; ++i) f.task(inout(b), [&] { ++happened; });
    f.task(inout(b), [&] {
      ++happened;
      held.release();
    });
    f.wait();
    EXPECT_EQ(seen, 11);
  });
}

TEST(task_coroutine, more_of_them_wait_than_bodies_may_be_outstanding) {
  runtime rt{{.workers = 2}};
  flow f{rt};
  std::atomic<bool> happened{false};
  std::atomic<int> ended{0};
  constexpr int count = 10'000;
  for (int i = 0; i < count; ++i)
    f.task([&]() -> task_coroutine {
      for (int twice = 0; twice < 2; ++twice) {
        attach([&] { return happened.load(); });
        co_await completed();
      }
      ++ended;
    });
  f.task([&] { happened = true; });
  f.wait();
  EXPECT_EQ(ended, count);
}

TEST(task_coroutine, keeps_its_place_its_private_copies_and_its_inner_tasks) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    std::array<int, 4> x{};
    long sum = 1;
    std::atomic<int> wrong{0};
    for (unsigned task = 0; task < 20; ++task) {
      f.task({.place = task}, inout(x), reduction(sum), [&, task](long& mine) -> task_coroutine {
        for (int round = 0; round < 3; ++round) {
          wrong += worker_index() != task % rt.workers();
          for (int& each : x) f.task(inout(each), [&each] { ++each; });
          mine += round;
          attach([] { return true; });
          co_await completed();
        }
      });
      f.task(in(x), [&, task] {
        for (const int each : x) wrong += each != 3 * (static_cast<int>(task) + 1);
      });
    }
    f.wait();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(sum, 1 + 20 * 3);
  });
}

TEST(task_coroutine, holds_its_commutative_accesses_while_it_waits) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    std::atomic<bool> within{false};
    std::atomic<int> wrong{0};
    for (int i = 0; i < 100; ++i)
      f.task(commutative(x), [&]() -> task_coroutine {
        wrong += within.exchange(true);
        attach([] { return true; });
        co_await completed();
        ++x;
        within = false;
      });
    f.wait();
    EXPECT_EQ(x, 100);
    EXPECT_EQ(wrong, 0);
  });
}

TEST(task_coroutine, that_throws_fails_its_flow_and_destroys_its_variables) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    for (const bool late : {false, true}) {
      const auto alive = std::make_shared<int>(0);
      f.task(inout(x), [&, late, kept = alive]() -> task_coroutine {
        const auto mine = kept;
        if (late) {
          attach([] { return true; });
          co_await completed();
        }
        throw std::runtime_error(late ? "late" : "early");
      });
      f.task(inout(x), [&] { ++x; });
      EXPECT_EQ(text_of<std::runtime_error>([&] { f.wait(); }), late ? "late" : "early");
      EXPECT_EQ(alive.use_count(), 1);
    }
    EXPECT_EQ(x, 0);
  });
}

TEST(task_coroutine, does_not_go_on_if_its_flow_fails_meanwhile_and_destroys_its_variables) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    const auto alive = std::make_shared<int>(0);
    std::atomic<bool> begun{false};
    std::atomic<bool> happened{false};
    bool went_on = false;
    int x = 0;
    f.task(inout(x), [&, kept = alive]() -> task_coroutine {
      const auto mine = kept;
      begun = true;
      attach([&] { return happened.load(); });
      co_await completed();
      went_on = true;
    });
    int y = 0;
    f.task(out(y), [&] { attach([&] { return begun.load(); }); });
    f.task(inout(y), [&] {
      f.cancel();
      happened = true;
    });
    f.wait();
    // Of several workers another one may cancel the flow when the coroutine is about to wait: then its event
    // has happened, and it does not wait.
    if (rt.workers() == 1) {
      EXPECT_FALSE(went_on);
    }
    EXPECT_EQ(alive.use_count(), 1);
    f.task(inout(x), [&] { x = 1; });
    f.wait();
    EXPECT_EQ(x, 1);
  });
}

// Such tasks end with their bodies, so they can attach nothing.
TEST(task_coroutine, is_recorded_replayed_and_checked_if_it_attaches_nothing) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    int x = 0;
    const auto add = [&]() -> task_coroutine {
      ++x;
      co_await completed();
      ++x;
    };
    auto twice = f.record([&] {
      f.task(inout(x), add);
      f.task(inout(x), add);
    });
    twice.replay(10);
    EXPECT_EQ(x, 44);
    f.check(true);
    f.task(inout(x), add);
    f.wait();
    EXPECT_EQ(x, 46);
    f.task(inout(x), []() -> task_coroutine {
      attach([] { return true; });
      co_await completed();
    });
    EXPECT_THROW(f.wait(), misuse);
  });
}

// The destructor of the coroutine finds it, and can't throw.
TEST(task_coroutine, that_another_function_calls_ends_the_program_with_the_way_out) {
  if (under_thread_sanitizer) GTEST_SKIP() << "it stops children of processes with threads";
  const auto body = [](int) -> task_coroutine { co_return; };
  constexpr auto line =
      "teff::task_coroutine: a function other than teff::flow::task\\(\\) called a body that is a coroutine, "
      "and cannot run it: make it a task by flow::task\\(\\)";
  EXPECT_DEATH(static_cast<void>(body(1)), line);
  EXPECT_DEATH(
      {
        runtime rt{{.workers = 1}};
        flow f{rt};
        f.task_for(0, 1, body);
        f.wait();
      },
      line);
}

TEST(task_coroutine, awaits_futures_and_has_their_values_and_exceptions) {
  on_runtimes([](runtime& rt) {
    flow f{rt};
    auto of_request = rt.submit([] { return std::make_shared<int>(3); });
    promise<int> given;
    auto of_promise = given.get_future();
    promise<void> broken;
    auto fails = broken.get_future();
    const auto shared = std::make_shared<int>(0);
    int a = 0;
    int b = 0;
    f.task(out(a), [&, shared]() -> task_coroutine {
      const auto three = co_await of_request;
      a = *three + co_await std::move(of_promise) + *shared;
      try {
        co_await fails;
      } catch (const broken_promise&) {
        a = -a;
      }
    });
    f.task(in(a), [&] { b = a; });
    std::thread other([&] {
      given.set_value(4);
      static_cast<void>(promise<void>(std::move(broken)));
    });
    f.wait();
    other.join();
    EXPECT_EQ(b, -7);
    EXPECT_EQ(shared.use_count(), 1);
  });
}

// The worker is free meanwhile: also the only one runs the task that gives the value.
TEST(task_coroutine, leaves_its_worker_while_it_awaits_a_future) {
  runtime rt{{.workers = 1}};
  flow f{rt};
  promise<int> given;
  auto later = given.get_future();
  int a = 0;
  int b = 0;
  f.task(out(a), [&]() -> task_coroutine { a = co_await later; });
  f.task(out(b), [&] { given.set_value(5); });
  f.wait();
  EXPECT_EQ(a, 5);
}

}  // namespace
}  // namespace teff::test
