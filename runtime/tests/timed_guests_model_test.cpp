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

// A source with something to poll for, at a time or when its bell is rung. One variable stands
// for the data that a worker's thread or guest may touch. The checker finds races on it.
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

  // The steps of worker_loop.cpp and worker_park.cpp at the top of a worker's stack, without the spinning.
  // The worker returns when a worker has polled the source.
  void serve(unsigned me) {
    gate.start_search();
    while (polled.load() == 0 && !poll_in_time()) {
      std::uint32_t quiet = 0;
      gate.park(
          me, wake_for::work, [] {},
          [&] {
            touch(me);
            quiet = bell.listen(sleeper_of(me));
            return sees_work();
          },
          [&] {
            const futex::bells also{&bell.word(), quiet};
            gate.sleep_until(me, wake_for::work, asked.load(), also, me == 0);
          });
      touch(me);
    }
    if (gate.stop_search()) hand_over();
  }

  // What guest.cpp and worker::end_guest() do.
  void visit(const std::function<void()>& call = [] {}) {
    const auto as = gate.enter([&] { touch(0); });
    if (as == entered::no) return;
    if (as == entered::with_promise) {
      bell.rise(sleeper_of(0));
      if (guests_hand_over) hand_over();
    }
    touch(0);
    call();
    static_cast<void>(gate.prepare_leave());
    touch(0);
    bell.listen(sleeper_of(0));
    gate.promise_again();
    const bool in_time =
        guests_leave_with_the_time || gate.anyone_searches() || gate.somebody_wakes_by(asked.load());
    const bool calls_home = sees_work() || !in_time;
    touch(0);
    gate.leave(calls_home);
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
const auto visitor = [](world& w) { w.visit(); };
const auto two_visits = [](world& w) {
  w.visit();
  w.visit();
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
  w.visit([&w] { checker::now().wait_until([&w] { return w.polled.peek() != 0; }); });
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

// The other worker has promised, so that worker 0's own thread sleeps without a time; then it becomes busy.
const auto becomes_busy = [](world& w) {
  w.gate.start_search();
  w.gate.prepare_sleep(1, wake_for::work);
  if (w.gate.sleep_until(1, wake_for::work, w.asked.load())) w.poll_in_time();
  if (w.gate.stop_search()) w.hand_over();
  checker::now().wait_until([&w] { return w.polled.peek() != 0; });
};
const auto wakes_it_before_the_time = [](world& w) {
  w.gate.wake(1);
  futex::set_clock(1);
};

TEST(timed_guests_model, where_the_other_worker_is_busy_a_guest_that_leaves_has_the_own_thread_poll) {
  expect_no_fault(check(2, 2, {first, becomes_busy, visitor, wakes_it_before_the_time}, 1));
}

TEST(timed_guests_model, finds_a_guest_that_leaves_and_forgets_the_time) {
  EXPECT_NE(check(2, 2, {first, becomes_busy, visitor, wakes_it_before_the_time}, 1,
                  [](world& w) { w.guests_leave_with_the_time = true; })
                .fault,
            "");
}

}  // namespace
}  // namespace teff::test
