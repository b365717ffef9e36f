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

  bool take() {
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
  void hand_over() {
    if (work.load() > 0) gate.wake_any(0);
  }
  // The steps of worker_park.cpp without the spinning: searches until it has found so many pieces.
  void search(unsigned me, int pieces, bool looks_again = true) {
    for (int found = 0; found < pieces; ++found) {
      gate.start_search();
      while (!take()) {
        gate.park(
            me, wake_for::work, [] {}, [&] { return looks_again && work.load() > 0; },
            [&] { gate.sleep(me); });
      }
      if (gate.stop_search()) hand_over();
    }
  }
};

checker::outcome check(int preemptions, const std::vector<std::function<void(world&)>>& threads) {
  return checked::check_threads<world>([] { return std::make_shared<world>(2); }, threads,
                                       [](world& w) {
                                         if (w.work.load() != 0) checker::fail("work was left");
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
