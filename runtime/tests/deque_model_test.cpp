// The deque's code on its interleavings: every pushed task runs exactly once, and a thief reads only slots
// that it has won.
#include <gtest/gtest.h>
#include <teff/detail/scheduler/split_deque.hpp>

#include "interleavings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::plain;

struct slot {
  plain content;
  checked::atomic<int> ended;
};

using deque = detail::split_deque<slot, checked::atomic>;

// A deque, its slots, and how often each task was run.
struct world {
  world() : slots(8), ran(8) { tasks.open(slots.data()); }
  std::vector<slot> slots;
  deque tasks;
  std::vector<int> ran;

  void push(int task) {
    auto* const at = tasks.head();
    at->content.write(task);
    tasks.push(at);
    if (tasks.asked()) tasks.share();
  }
  // Does as a join does: runs the newest task, or waits for its thief and takes the slot back.
  void pop() {
    auto* const at = tasks.head() - 1;
    if (tasks.take(at) || tasks.retake(at)) {
      ++ran[static_cast<std::size_t>(at->content.read())];
      return;
    }
    // Not ready() by load(): that would be a step.
    while (at->ended.load(std::memory_order_acquire) == 0) {
      checker::now().wait_until([at] { return at->ended.peek() != 0; });
    }
    at->ended.store(0, std::memory_order_relaxed);
    tasks.reclaim(at);
  }
  void steal() {
    if (auto* const stolen = tasks.steal()) {
      ++ran[static_cast<std::size_t>(stolen->content.read())];
      stolen->ended.store(1, std::memory_order_release);
    }
  }
  void expose() {
    tasks.ask();
    tasks.expose(checked::barrier_everywhere);
  }
  // Does as a worker does for all deques before it sleeps: exposes only tasks that it sees after a barrier.
  void look_and_expose(const std::function<void()>& barrier = checked::barrier_everywhere) {
    tasks.ask();
    barrier();
    if (!tasks.has_public() && tasks.has_private()) tasks.expose(checked::barrier_everywhere);
  }
};

// Runs threads over one world; at the end, tasks 0 .. count - 1 must have run once each.
checker::outcome check(int count, int preemptions, const std::vector<std::function<void(world&)>>& threads) {
  return checked::check_threads<world>(
      [] { return std::make_shared<world>(); }, threads,
      [count](world& w) {
        for (int task = 0; task < count; ++task) {
          const int times = w.ran[static_cast<std::size_t>(task)];
          if (times != 1)
            checker::fail("task " + std::to_string(task) + " ran " + std::to_string(times) + " times");
        }
      },
      preemptions);
}

const auto nested_joins = [](world& w) {
  w.push(0);
  w.push(1);
  w.pop();
  w.push(2);
  w.pop();
  w.pop();
};

TEST(deque_model, two_thieves_and_the_owner_run_every_task_once) {
  const auto thief = [](world& w) { w.steal(); };
  expect_no_fault(check(3, 2, {nested_joins, thief, thief}));
}

TEST(deque_model, a_thief_that_asks_and_steals_twice_and_the_owner_run_every_task_once) {
  expect_no_fault(check(3, 3, {nested_joins, [](world& w) {
                                 w.steal();
                                 w.tasks.ask();
                                 w.steal();
                               }}));
}

TEST(deque_model, an_exposing_thief_and_the_owner_run_every_task_once) {
  expect_no_fault(check(3, 3, {nested_joins, [](world& w) {
                                 w.steal();
                                 w.expose();
                                 w.steal();
                               }}));
}

TEST(deque_model, two_exposing_thieves_and_the_owner_run_every_task_once) {
  const auto thief = [](world& w) {
    w.expose();
    w.steal();
  };
  expect_no_fault(check(3, 2, {nested_joins, thief, thief}));
}

// After this look the thief would sleep. So at least one pushed task must be public then.
checker::outcome check_before_sleep(const std::function<void(world&)>& look) {
  return checker::check(
      [look]() -> checker::program {
        auto shared = std::make_shared<world>();
        auto unasked = std::make_shared<bool>(false);
        return {[shared, unasked] {
                  shared->tasks.withdraw();
                  *unasked = true;
                  shared->push(0);
                  shared->push(1);
                },
                [shared, unasked, look] {
                  checker::now().wait_until([unasked] { return *unasked; });
                  look(*shared);
                },
                [shared] {
                  if (!shared->tasks.has_public()) checker::fail("both tasks are hidden");
                }};
      },
      5, checked::most_interleavings);
}

TEST(deque_model, no_pushed_task_stays_hidden_from_a_thief_that_asked_and_exposed) {
  expect_no_fault(check_before_sleep([](world& w) { w.expose(); }));
}

TEST(deque_model, no_pushed_task_stays_hidden_from_a_thief_that_asked_and_looked_after_a_barrier) {
  expect_no_fault(check_before_sleep([](world& w) { w.look_and_expose(); }));
}

TEST(deque_model, a_thief_that_looks_and_exposes_and_the_owner_run_every_task_once) {
  expect_no_fault(check(3, 3, {nested_joins, [](world& w) {
                                 w.steal();
                                 w.look_and_expose();
                                 w.steal();
                               }}));
}

// Faults that the checker must find.

TEST(deque_model, finds_an_exposure_without_its_barrier) {
  const auto outcome = check(3, 3, {nested_joins, [](world& w) {
                                      w.steal();
                                      w.tasks.ask();
                                      w.tasks.expose([] {});
                                      w.steal();
                                    }});
  EXPECT_NE(outcome.fault, "");
}

TEST(deque_model, finds_a_thief_that_exposes_or_looks_without_a_barrier_before_it_sleeps) {
  EXPECT_NE(check_before_sleep([](world& w) {
              w.tasks.ask();
              w.tasks.expose([] {});
            }).fault,
            "");
  EXPECT_NE(check_before_sleep([](world& w) { w.look_and_expose([] {}); }).fault, "");
}

TEST(deque_model, finds_an_owner_that_takes_a_public_slot_without_asking) {
  const auto careless = [](world& w) {
    w.push(0);
    auto* const at = w.tasks.head() - 1;
    (void)w.tasks.take(at);
    ++w.ran[static_cast<std::size_t>(at->content.read())];
  };
  EXPECT_NE(check(1, 4, {careless, [](world& w) { w.steal(); }}).fault, "");
}

TEST(deque_model, finds_a_thief_that_reads_a_slot_it_did_not_win) {
  const auto careless = [](world& w) {
    if (w.tasks.has_public()) ++w.ran[static_cast<std::size_t>(w.slots[0].content.read())];
  };
  EXPECT_NE(check(3, 4, {nested_joins, careless}).fault, "");
}

}  // namespace
}  // namespace teff::test
