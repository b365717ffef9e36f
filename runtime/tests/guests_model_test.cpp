// The gate with guests on its interleavings: two threads are never worker 0 at a time, and no published work
// is left while everybody sleeps.
#include <gtest/gtest.h>

#include "interleavings.hpp"
#include "scheduler/idle_gate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;
using detail::entered;
using detail::wake_for;

// Pieces of work for any worker, and others for worker 0 only. One variable stands for
// the data that a worker's thread or guest may touch. The checker finds races on it.
struct world {
  explicit world(unsigned workers) : gate(workers) { futex::wakes.clear(); }
  detail::idle_gate<futex> gate;
  checked::atomic<int> work{0};
  checked::atomic<int> named{0};
  std::array<checked::plain, 2> state;
  // For worker 0 only, and sent as sources do: by a store that may be late.
  std::array<checked::atomic<int>, 2> messages;
  bool guests_look = true;
  bool guests_fence = true;
  bool guests_touch_after = false;

  static bool take_from(checked::atomic<int>& pieces) {
    int there = pieces.load();
    while (there > 0) {
      if (pieces.compare_exchange_strong(there, there - 1)) return true;
    }
    return false;
  }
  bool take_message() {
    return std::ranges::any_of(messages,
                               [](auto& each) { return each.load() != 0 && each.exchange(0) != 0; });
  }
  [[nodiscard]] bool sees_own_work() const {
    return named.load() > 0 || messages[0].load() != 0 || messages[1].load() != 0;
  }
  [[nodiscard]] bool sees_work(unsigned me) const { return work.load() > 0 || (me == 0 && sees_own_work()); }
  void touch(unsigned me) { state[me].write(state[me].read() + 1); }
  void hand_over(unsigned me) {
    if (sees_work(me)) gate.wake_any(me);
  }
  void publish() {
    work.fetch_add(1);
    gate.notify_work(0);
  }
  void publish_to_first() {
    named.fetch_add(1);
    gate.wake(0);
  }
  void send_to_first(std::size_t number) {
    messages[number].store(1, std::memory_order_release);
    gate.wake(0);
  }

  // The steps of worker_loop.cpp and worker_park.cpp at the top of a worker's stack, without the spinning.
  // The worker returns when it has found `pieces` pieces.
  void search(unsigned me, int pieces) {
    for (int found = 0; found < pieces; ++found) {
      gate.start_search();
      touch(me);
      while (!take_from(work) && !(me == 0 && (take_from(named) || take_message()))) {
        gate.park(
            me, wake_for::work, [] {},
            [&] {
              touch(me);
              checked::barrier_everywhere();
              return sees_work(me);
            },
            [&] {
              me == 0 ? void(gate.sleep_until(me, wake_for::work, futex::never, {}, true)) : gate.sleep(me);
            });
        touch(me);
      }
      if (gate.stop_search()) hand_over(me);
    }
  }
  // What guest.cpp and worker::end_guest() do. Returns whether the seat was free.
  bool visit(const std::function<void()>& call) {
    if (gate.enter([&] { touch(0); }) == entered::no) return false;
    call();
    const bool others_idle = gate.prepare_leave();
    touch(0);
    if (!others_idle && guests_fence) checked::barrier_everywhere();
    const bool calls_home = guests_look && sees_own_work();
    if (guests_look && !calls_home && gate.needs_a_wake() && work.load() > 0) gate.wake_any(0);
    touch(0);
    gate.leave(calls_home);
    if (guests_touch_after) touch(0);
    return true;
  }
};

checker::outcome check(int preemptions, const std::vector<std::function<void(world&)>>& threads,
                       const std::function<void(world&)>& before = {}, unsigned workers = 2) {
  return checked::check_threads<world>(
      [&before, workers] {
        auto made = std::make_shared<world>(workers);
        if (before) before(*made);
        return made;
      },
      threads,
      [](world& w) {
        if (w.work.load() != 0 || w.named.load() != 0) checker::fail("work was left");
      },
      preemptions);
}

const auto owner = [](world& w) { w.search(0, 1); };
const auto other = [](world& w) { w.search(1, 1); };
const auto visitor = [](world& w) { static_cast<void>(w.visit([] {})); };
const auto publisher = [](world& w) { w.publish(); };
const auto publisher_to_first = [](world& w) { w.publish_to_first(); };

TEST(guests_model, what_is_published_while_a_guest_is_in_gets_done) {
  expect_no_fault(check(4, {owner, visitor, publisher}));
  expect_no_fault(check(4, {owner, visitor, publisher}, {}, 1));
}

TEST(guests_model, what_only_the_guests_worker_may_do_gets_done) {
  expect_no_fault(check(4, {owner, visitor, publisher_to_first}));
  expect_no_fault(check(3, {owner,
                            [](world& w) {
                              visitor(w);
                              visitor(w);
                            },
                            publisher_to_first}));
}

TEST(guests_model, what_a_guest_publishes_gets_done) {
  const auto publishes_twice = [](world& w) {
    if (!w.visit([&] { w.publish(); })) w.publish();
    w.publish();
  };
  expect_no_fault(check(2, {owner, other, publishes_twice}));
}

// Worker 1, which is busy, searches between its two messages: then the guest may leave without a fence.
const auto sender = [](world& w) {
  w.send_to_first(0);
  w.gate.start_search();
  if (w.gate.stop_search()) w.hand_over(1);
  w.send_to_first(1);
};
const auto receiver = [](world& w) { w.search(0, 2); };

TEST(guests_model, what_a_busy_worker_sends_while_a_guest_leaves_gets_done) {
  expect_no_fault(check(3, {receiver, visitor, sender}));
}

TEST(guests_model, finds_a_guest_that_leaves_without_a_fence_while_a_worker_is_busy) {
  EXPECT_NE(check(3, {receiver, visitor, sender}, [](world& w) { w.guests_fence = false; }).fault, "");
}

TEST(guests_model, of_two_guests_one_enters_at_a_time) {
  expect_no_fault(check(2, {owner, visitor, visitor, publisher}));
}

TEST(guests_model, what_two_threads_publish_gets_done_though_a_guest_comes_between) {
  const auto publisher_of_two = [](world& w) {
    w.publish();
    w.publish();
  };
  expect_no_fault(check(3, {receiver, visitor, publisher_of_two}));
  expect_no_fault(check(2, {owner, other, visitor, publisher_of_two}));
}

TEST(guests_model, a_guest_that_sleeps_is_woken_and_not_the_workers_own_thread) {
  const auto sleeps_in_its_call = [](world& w) {
    const auto word = w.gate.word_of_guest();
    w.gate.start_search();
    while (!world::take_from(w.named)) {
      w.gate.park(
          word, wake_for::name, [&] { w.hand_over(0); },
          [&] {
            w.touch(0);
            return w.named.load() > 0;
          },
          [&] { w.gate.sleep(word); });
      w.touch(0);
    }
    if (w.gate.stop_search()) w.hand_over(0);
  };
  const auto sleeper = [&](world& w) {
    if (w.visit([&] { sleeps_in_its_call(w); })) return;
    while (!world::take_from(w.named)) checker::now().pause();
  };
  expect_no_fault(check(3, {owner, sleeper, [](world& w) {
                              w.publish_to_first();
                              w.publish_to_first();
                            }}));
}

TEST(guests_model, finds_a_guest_that_does_not_look_before_it_leaves) {
  EXPECT_NE(check(3, {owner, visitor, publisher_to_first}, [](world& w) { w.guests_look = false; }).fault,
            "");
}

TEST(guests_model, finds_a_guest_that_is_still_the_worker_after_it_has_left) {
  EXPECT_NE(check(3, {owner, visitor, publisher}, [](world& w) { w.guests_touch_after = true; }).fault, "");
}

}  // namespace
}  // namespace teff::test
