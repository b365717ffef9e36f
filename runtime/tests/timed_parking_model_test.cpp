// The parking code on its interleavings, with a time at which a worker has to be awake. The time comes while
// all workers sleep, or while one is busy and the others sleep. Some worker must poll then.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "interleavings.hpp"
#include "scheduler/idle_gate.hpp"

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;
using detail::wake_for;

constexpr unsigned workers = 2;

// A source that a worker must poll once, at the time `asked`, and pieces of work that last until then.
struct world {
  world() : gate(workers) {
    futex::wakes.clear();
    futex::clock = 0;
  }
  detail::idle_gate<futex> gate;
  checked::atomic<int> asked{futex::never};
  checked::atomic<int> polled{0};
  checked::atomic<int> work{0};
  bool hands_over_the_time = true;
  bool asks_before_it_prepares = false;

  void ask_for(int time) {
    asked.store(time);
    gate.notify_work(0);
  }
  void publish() {
    work.fetch_add(1);
    gate.notify_work(0);
  }
  bool take() {
    int there = work.load();
    while (there > 0) {
      if (work.compare_exchange_strong(there, there - 1)) return true;
    }
    return false;
  }
  void hand_over() {
    if (work.load() > 0 || (hands_over_the_time && !gate.somebody_wakes_by(asked.load()))) gate.wake_any(0);
  }
  bool poll_in_time() {
    if (asked.load() > futex::clock) return false;
    polled.store(1);
    for (unsigned each = 0; each < workers; ++each) gate.wake(each);
    return true;
  }

  // The steps of worker_park.cpp without the spinning: works, polls, or sleeps until the source was polled.
  void serve(unsigned me, wake_for what = wake_for::work) {
    gate.start_search();
    while (polled.load() == 0 && !poll_in_time()) {
      if (what == wake_for::work && take()) {
        if (gate.stop_search()) hand_over();
        checker::now().wait_until([this] { return polled.peek() != 0; });
        return;
      }
      const int asked_before = asked.load();
      gate.park(
          me, what, [&] { hand_over(); },
          [&] { return polled.load() != 0 || (what == wake_for::work && work.load() > 0); },
          [&] {
            const int time = asks_before_it_prepares ? asked_before : asked.load();
            time == futex::never ? gate.sleep(me) : static_cast<void>(gate.sleep_until(me, what, time));
          });
    }
    if (gate.stop_search()) hand_over();
  }
};

// A deadlock is a fault: no worker polled.
checker::outcome check(int preemptions, const std::vector<std::function<void(world&)>>& threads,
                       const std::function<void(world&)>& before = {}) {
  return checked::check_threads<world>(
      [&before] {
        auto made = std::make_shared<world>();
        if (before) before(*made);
        return made;
      },
      threads,
      [](world& w) {
        if (w.polled.load() == 0) checker::fail("nobody polled");
      },
      preemptions);
}

const auto ask_first = [](world& w) { w.asked.store(1); };
const auto time_comes = [](world&) { futex::set_clock(1); };

TEST(timed_parking_model, sleepers_poll_when_the_time_comes) {
  expect_no_fault(
      check(3, {[](world& w) { w.serve(0); }, [](world& w) { w.serve(1); }, time_comes}, ask_first));
}

TEST(timed_parking_model, sleepers_poll_at_a_time_that_is_asked_for_while_they_sleep) {
  expect_no_fault(check(3, {[](world& w) { w.serve(0); }, [](world& w) { w.serve(1); },
                            [](world& w) {
                              w.ask_for(1);
                              futex::set_clock(1);
                            }}));
}

TEST(timed_parking_model, sleepers_poll_at_a_time_that_has_become_earlier) {
  expect_no_fault(check(3,
                        {[](world& w) { w.serve(0); }, [](world& w) { w.serve(1); },
                         [](world& w) {
                           w.ask_for(1);
                           futex::set_clock(1);
                         }},
                        [](world& w) { w.asked.store(2); }));
}

TEST(timed_parking_model, while_one_worker_is_busy_the_other_polls) {
  expect_no_fault(check(3,
                        {[](world& w) { w.serve(0); }, [](world& w) { w.serve(1); },
                         [](world& w) {
                           w.publish();
                           futex::set_clock(1);
                         }},
                        ask_first));
}

TEST(timed_parking_model, a_worker_that_is_woken_by_name_only_wakes_at_the_time_itself) {
  expect_no_fault(check(3,
                        {[](world& w) { w.serve(0); }, [](world& w) { w.serve(1, wake_for::name); },
                         [](world& w) {
                           w.publish();
                           futex::set_clock(1);
                         }},
                        ask_first));
}

TEST(timed_parking_model, finds_a_last_searcher_that_does_not_hand_the_time_over) {
  EXPECT_NE(check(3,
                  {[](world& w) { w.serve(0); }, [](world& w) { w.serve(1); },
                   [](world& w) {
                     w.publish();
                     futex::set_clock(1);
                   }},
                  [](world& w) {
                    w.asked.store(1);
                    w.hands_over_the_time = false;
                  })
                .fault,
            "");
}

TEST(timed_parking_model, finds_a_worker_that_asks_for_the_time_before_it_prepares_to_sleep) {
  EXPECT_NE(check(3,
                  {[](world& w) { w.serve(0); }, [](world& w) { w.serve(1); },
                   [](world& w) {
                     w.ask_for(1);
                     futex::set_clock(1);
                   }},
                  [](world& w) { w.asks_before_it_prepares = true; })
                .fault,
            "");
}

}  // namespace
}  // namespace teff::test
