// The gate on its interleavings, with guests and a time, or a bell, for which a worker has to be awake: it
// comes while a guest is in, or enters, or leaves, and some worker polls.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "interleavings.hpp"
#include "platform/bell.hpp"
#include "scheduler/idle_gate.hpp"

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;
using detail::entered;
using detail::wake_for;

constexpr int far = 5;  // it never comes

// A source with something to poll for, at a time or when its bell is rung. What a worker's thread or guest
// may touch is one variable, whose races the checker finds.
struct world {
  explicit world(unsigned count) : gate(count), workers(count) {
    futex::wakes.clear();
    futex::clock = 0;
  }
  detail::idle_gate<futex> gate;
  const unsigned workers;
  std::array<checked::plain, 2> state;
  checked::atomic<int> asked{futex::never};
  checked::atomic<int> brought{0};
  checked::atomic<int> polled{0};
  detail::bell<futex> bell;
  bool guests_hand_over = true;
  bool guests_promise_again = true;
  bool guests_leave_with_the_time = false;

  static std::uint32_t sleeper_of(unsigned me) { return detail::bell<futex>::first_sleeper + me; }
  void touch(unsigned me) { state[me].write(state[me].read() + 1); }

  // From another process.
  void bring() {
    brought.store(1);
    bell.ring();
  }
  [[nodiscard]] bool sees_work() { return polled.load() != 0 || brought.load() != 0; }
  void hand_over() {
    if (sees_work() || !gate.somebody_wakes_by(asked.load())) gate.wake_any(0);
  }
  bool poll_in_time() {
    if (asked.load() > futex::clock && brought.load() == 0) return false;
    polled.store(1);
    for (unsigned each = 0; each < workers; ++each) gate.wake(each);
    return true;
  }

  // What worker_loop.cpp and worker_park.cpp do at the top of a worker's own stack, without the spinning:
  // until the source was polled.
  void serve(unsigned me) {
    gate.start_search();
    gate.offer(me);
    while (polled.load() == 0 && !poll_in_time()) {
      gate.prepare_sleep(me, wake_for::work_or_guest);
      touch(me);
      const auto quiet = bell.listen(sleeper_of(me));
      if (sees_work()) {
        gate.cancel_sleep(me, wake_for::work_or_guest);
      } else {
        gate.sleep_vacant(me, [](auto& home, std::uint32_t expected) { futex::wait(home, expected); },
                          asked.load(), {&bell.word(), quiet});
      }
      touch(me);
      gate.offer(me);
    }
    gate.withdraw_offer(me);
    if (gate.stop_search()) hand_over();
  }

  // What guest.cpp and worker::end_guest() do, if the worker is vacant or called.
  void visit(unsigned worker, const std::function<void()>& call = [] {}) {
    const auto prepare = [&] { touch(worker); };
    auto as = gate.enter(worker, prepare);
    if (as == entered::no) as = gate.enter_called(worker, prepare);
    if (as == entered::no) return;
    if (as == entered::as_searcher) {
      bell.rise(sleeper_of(worker));
      if (gate.stop_search() && guests_hand_over) hand_over();
    }
    touch(worker);
    call();
    static_cast<void>(gate.prepare_leave(worker));
    touch(worker);
    bell.listen(sleeper_of(worker));
    if (guests_promise_again) gate.promise_again(worker);
    const bool stays = sees_work() || (!guests_leave_with_the_time && !gate.somebody_wakes_by(asked.load()));
    if (stays) gate.cancel_leave(worker);
    if (!stays && gate.leave(worker)) return;
    touch(worker);
    gate.call_home(worker);
  }
};

// A deadlock is a fault: nobody polled.
checker::outcome check(unsigned workers, int preemptions,
                       const std::vector<std::function<void(world&)>>& threads, int time,
                       const std::function<void(world&)>& before = {}) {
  return checked::check_threads<world>(
      [=] {
        auto made = std::make_shared<world>(workers);
        made->asked.store(time);
        if (before) before(*made);
        return made;
      },
      threads,
      [](world& w) {
        if (w.polled.load() == 0) checker::fail("nobody polled");
      },
      preemptions);
}

const auto first = [](world& w) { w.serve(0); };
const auto second = [](world& w) { w.serve(1); };
const auto visitor = [](world& w) { w.visit(0); };
const auto two_visits = [](world& w) {
  w.visit(0);
  w.visit(0);
};
const auto time_comes = [](world&) { futex::set_clock(1); };
const auto something_comes = [](world& w) { w.bring(); };

TEST(timed_guests_model, the_source_is_polled_in_time_though_a_guest_comes_and_goes) {
  expect_no_fault(check(1, 4, {first, visitor, time_comes}, 1));
  expect_no_fault(check(1, 3, {first, two_visits, time_comes}, 1));
  expect_no_fault(check(2, 2, {first, second, visitor, time_comes}, 1));
}

TEST(timed_guests_model, what_another_process_brings_is_seen_though_a_guest_comes_and_goes) {
  expect_no_fault(check(1, 4, {first, visitor, something_comes}, far));
  expect_no_fault(check(1, 3, {first, two_visits, something_comes}, far));
  expect_no_fault(check(2, 2, {first, second, visitor, something_comes}, far));
}

TEST(timed_guests_model, of_two_guests_of_a_worker_that_sleeps_in_time_one_enters_at_a_time) {
  expect_no_fault(check(1, 2, {first, visitor, visitor, something_comes}, far));
  expect_no_fault(check(1, 2, {first, visitor, visitor, time_comes}, 1));
}

// Only the other worker can poll then.
const auto long_visit = [](world& w) {
  w.visit(0, [&w] { checker::now().wait_until([&w] { return w.polled.peek() != 0; }); });
};

TEST(timed_guests_model, while_a_guest_is_busy_the_other_worker_polls) {
  expect_no_fault(check(2, 2, {first, second, long_visit, time_comes}, 1));
  expect_no_fault(check(2, 2, {first, second, long_visit, something_comes}, far));
}

TEST(timed_guests_model, finds_a_guest_that_takes_a_promise_with_it_and_hands_nothing_over) {
  EXPECT_NE(
      check(2, 3, {first, second, long_visit, time_comes}, 1, [](world& w) { w.guests_hand_over = false; })
          .fault,
      "");
}

TEST(timed_guests_model, finds_a_guest_that_leaves_and_forgets_the_time) {
  EXPECT_NE(check(1, 3, {first, visitor, time_comes}, 1,
                  [](world& w) {
                    w.guests_promise_again = false;
                    w.guests_leave_with_the_time = true;
                  })
                .fault,
            "");
}

}  // namespace
}  // namespace teff::test
