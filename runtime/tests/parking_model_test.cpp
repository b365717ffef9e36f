// The parking code on its interleavings: no published work is left while all workers sleep.
#include <gtest/gtest.h>

#include "interleavings.hpp"
#include "scheduler/idle_gate.hpp"

#include <memory>
#include <string>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;
using detail::wake_for;

// Pieces of work in one public place, as a stand-in for all deques.
struct world {
  explicit world(unsigned workers) : gate(workers) { futex::wakes.clear(); }
  detail::idle_gate<futex> gate;
  checked::atomic<int> work{0};
  checked::atomic<int> stop{0};
  // Stored as sources do: by a store that may be late.
  checked::atomic<int> brought{0};
  bool publishers_fence = true;

  [[nodiscard]] bool sees_work() const { return work.load() > 0 || brought.load() != 0; }
  bool take() {
    if (brought.load() != 0 && brought.exchange(0) != 0) return true;
    int there = work.load();
    while (there > 0) {
      if (work.compare_exchange_strong(there, there - 1)) return true;
    }
    return false;
  }
  void publish() {
    work.fetch_add(1);
    gate.notify_work(0);
  }
  void bring() {
    brought.store(1, std::memory_order_release);
    const auto fence = [this] {
      if (publishers_fence) stop.fetch_add(0);
    };
    if (gate.needs_a_wake(fence)) gate.wake_any(0);
    gate.notify_of_source();
  }
  void hand_over() {
    if (sees_work()) gate.wake_any(0);
  }
  // The steps of worker_park.cpp without the spinning: searches until it has found so many pieces.
  void search(unsigned me, int pieces, bool looks_again = true) {
    for (int found = 0; found < pieces; ++found) {
      gate.start_search();
      while (!take()) {
        gate.park(
            me, wake_for::work, [] {},
            [&] {
              checked::barrier_everywhere();
              return looks_again && sees_work();
            },
            [&] { gate.sleep(me); });
      }
      if (gate.stop_search()) hand_over();
    }
  }
};

checker::outcome check(int preemptions, const std::vector<std::function<void(world&)>>& threads,
                       bool publishers_fence = true) {
  return checked::check_threads<world>(
      [=] {
        auto made = std::make_shared<world>(2);
        made->publishers_fence = publishers_fence;
        return made;
      },
      threads,
      [](world& w) {
        if (w.sees_work()) checker::fail("work was left");
      },
      preemptions);
}

TEST(parking_model, a_worker_that_goes_to_sleep_gets_work_that_is_published_meanwhile) {
  expect_no_fault(check(5, {[](world& w) { w.search(0, 2); },
                            [](world& w) {
                              w.publish();
                              w.publish();
                            }}));
}

TEST(parking_model, two_workers_share_two_pieces_that_are_published_one_by_one) {
  // Each piece causes one wake at most. The worker that leaves the search last hands over.
  expect_no_fault(check(3, {[](world& w) { w.search(0, 1); }, [](world& w) { w.search(1, 1); },
                            [](world& w) {
                              w.publish();
                              w.publish();
                            }}));
}

TEST(parking_model, a_waiter_that_is_not_woken_for_work_is_woken_by_name) {
  const auto waiter = [](world& w) {
    w.gate.start_search();
    while (w.stop.load() == 0) {
      w.gate.park(
          1, wake_for::name, [&] { w.hand_over(); }, [&] { return w.stop.load() != 0; },
          [&] { w.gate.sleep(1); });
    }
    if (w.gate.stop_search()) w.hand_over();
  };
  expect_no_fault(check(3, {[](world& w) { w.search(0, 1); }, waiter,
                            [](world& w) {
                              w.publish();
                              w.stop.store(1);
                              w.gate.wake(1);
                            }}));
}

// A worker searches, and ends its search because it has found other work.
const auto searcher = [](world& w) {
  w.gate.start_search();
  if (w.gate.stop_search()) w.hand_over();
};

TEST(parking_model, what_is_brought_without_a_fence_while_the_last_searcher_ends_its_search_gets_done) {
  expect_no_fault(check(4, {[](world& w) { w.search(0, 1); }, searcher, [](world& w) { w.bring(); }}));
}

// Worker 1 waits within an activity, and may run work of sources only.
void wait_for_sources(world& w, bool has_barrier = true) {
  w.gate.start_search();
  while (w.brought.load() == 0 || w.brought.exchange(0) == 0) {
    w.gate.park(
        1, wake_for::sources, [&] { w.hand_over(); },
        [&] {
          if (has_barrier) checked::barrier_everywhere();
          return w.brought.load() != 0;
        },
        [&] { w.gate.sleep(1); });
  }
  if (w.gate.stop_search()) w.hand_over();
}

TEST(parking_model, a_worker_within_an_activity_is_woken_for_work_of_sources_alone) {
  const auto waiter = [](world& w) { wait_for_sources(w); };
  expect_no_fault(check(5, {waiter, [](world& w) { w.bring(); }}));
  expect_no_fault(check(3, {waiter, searcher, [](world& w) { w.bring(); }}));
}

TEST(parking_model, finds_a_worker_within_an_activity_that_sleeps_without_its_barrier) {
  const auto waiter = [](world& w) { wait_for_sources(w, false); };
  EXPECT_NE(check(5, {waiter, [](world& w) { w.bring(); }}).fault, "");
}

TEST(parking_model, finds_a_publisher_that_relies_on_a_searcher_without_a_fence) {
  EXPECT_NE(check(4, {[](world& w) { w.search(0, 1); }, searcher, [](world& w) { w.bring(); }}, false).fault,
            "");
}

TEST(parking_model, finds_a_worker_that_does_not_look_again_before_it_sleeps) {
  EXPECT_NE(check(3, {[](world& w) { w.search(0, 1, false); }, [](world& w) { w.publish(); }}).fault, "");
}

TEST(parking_model, finds_a_last_searcher_that_does_not_hand_over) {
  const auto careless = [](world& w) {
    w.gate.start_search();
    while (!w.take()) {
    }
    (void)w.gate.stop_search();
  };
  EXPECT_NE(check(4, {[](world& w) { w.search(0, 1); },
                      [&](world& w) {
                        w.publish();
                        careless(w);
                      },
                      [](world& w) { w.publish(); }})
                .fault,
            "");
}

}  // namespace
}  // namespace teff::test
