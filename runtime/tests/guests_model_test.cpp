// The gate with guests on its interleavings: two threads are never one worker at a time, and no published
// work is left while everybody sleeps.
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

// Pieces of work for any worker, and others for worker 0 only. What a worker's thread or guest may touch is
// one variable, whose races the checker finds.
struct world {
  world() : gate(2) { futex::wakes.clear(); }
  detail::idle_gate<futex> gate;
  checked::atomic<int> work{0};
  checked::atomic<int> named{0};
  std::array<checked::plain, 2> state;
  // For worker 0 only, and sent as sources do: by a store that may be late.
  std::array<checked::atomic<int>, 2> messages;
  bool guests_look = true;
  bool guests_fence = true;
  bool guests_touch_after = false;
  bool guests_leave_the_search = true;
  // Work that a worker which is asked for leaves to the guest, as long as that asks.
  checked::atomic<int> left{0};
  bool guests_stop_asking = true;

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
  [[nodiscard]] bool sees_work(unsigned me, bool gives_way = false) const {
    return work.load() > 0 || (!gives_way && left.load() > 0) ||
           (me == 0 && (named.load() > 0 || messages[0].load() != 0 || messages[1].load() != 0));
  }
  void touch(unsigned me) { state[me].write(state[me].read() + 1); }
  void hand_over(unsigned me) {
    if (sees_work(me)) gate.wake_any(0);
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

  void leave_to_guest() {
    left.fetch_add(1);
    gate.notify_work(0);
  }

  // What worker_loop.cpp and worker_park.cpp do at the top of a worker's own stack, without the spinning:
  // until it has found so many pieces.
  void search(unsigned me, int pieces) {
    for (int found = 0; found < pieces; ++found) {
      gate.start_search();
      gate.offer(me);
      touch(me);
      while (!take_from(work) && !(me == 0 && (take_from(named) || take_message())) &&
             (gate.is_asked_for(me) || !take_from(left))) {
        const bool gives_way = gate.prepare_to_give_way(me);
        if (!gives_way) gate.prepare_sleep(me, wake_for::work_or_guest);
        touch(me);
        if (!gives_way) checked::barrier_everywhere();
        if (sees_work(me, gives_way)) {
          gate.cancel_sleep(me, wake_for::work_or_guest);
        } else {
          gate.sleep_vacant(me, [](auto& home, std::uint32_t expected) { futex::wait(home, expected); });
        }
        touch(me);
        gate.offer(me);
      }
      gate.withdraw_offer(me);
      if (gate.stop_search()) hand_over(me);
    }
  }
  // What guest.cpp and worker::end_guest() do, if the worker is vacant or becomes so soon, or was called.
  // Returns whether.
  bool visit(unsigned worker, const std::function<void()>& call) {
    const bool asks = gate.ask_for(worker);
    const auto prepare = [&] { touch(worker); };
    auto as = gate.enter(worker, prepare);
    if (as == entered::no) {
      if (asks && guests_stop_asking) gate.stop_asking(worker);
      as = gate.enter_called(worker, prepare);
    }
    if (as == entered::no) return false;
    if (as == entered::as_searcher && guests_leave_the_search && gate.stop_search()) hand_over(worker);
    call();
    const bool others_idle = gate.prepare_leave(worker);
    touch(worker);
    if (!others_idle && guests_fence) checked::barrier_everywhere();
    const bool stays = guests_look && sees_work(worker);
    if (stays) gate.cancel_leave(worker);
    if (!stays && gate.leave(worker)) {
      if (guests_touch_after) touch(worker);
      return true;
    }
    touch(worker);
    gate.call_home(worker);
    return true;
  }
};

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
        if (w.work.load() != 0 || w.named.load() != 0 || w.left.load() != 0) checker::fail("work was left");
      },
      preemptions);
}

const auto owner = [](world& w) { w.search(0, 1); };
const auto visitor = [](world& w) { static_cast<void>(w.visit(0, [] {})); };

TEST(guests_model, what_is_published_while_a_guest_is_in_gets_done) {
  expect_no_fault(check(4, {owner, visitor, [](world& w) { w.publish(); }}));
}

TEST(guests_model, what_only_the_guests_worker_may_do_gets_done) {
  expect_no_fault(check(4, {owner, visitor, [](world& w) { w.publish_to_first(); }}));
}

TEST(guests_model, what_a_guest_publishes_gets_done) {
  const auto publisher = [](world& w) {
    if (!w.visit(0, [&] { w.publish(); })) w.publish();
    w.publish();
  };
  expect_no_fault(check(2, {[](world& w) { w.search(0, 1); }, [](world& w) { w.search(1, 1); }, publisher}));
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
  expect_no_fault(check(2, {owner, visitor, visitor, [](world& w) { w.publish(); }}));
}

// One piece calls the worker, whose place the guest may take; the other comes at any time.
const auto publisher_of_two = [](world& w) {
  w.publish();
  w.publish();
};
const auto owner_of_two = [](world& w) { w.search(0, 2); };

TEST(guests_model, what_a_worker_was_called_for_gets_done_though_a_guest_takes_its_place) {
  expect_no_fault(check(3, {owner_of_two, visitor, publisher_of_two}));
}

TEST(guests_model, finds_a_guest_that_takes_the_place_of_a_called_worker_and_still_counts_as_a_searcher) {
  EXPECT_NE(
      check(3, {owner_of_two, visitor, publisher_of_two}, [](world& w) { w.guests_leave_the_search = false; })
          .fault,
      "");
}

// The guest does it, if it comes; else the worker.
const auto leaver = [](world& w) {
  w.leave_to_guest();
  bool took_it = false;
  static_cast<void>(w.visit(0, [&] { took_it = world::take_from(w.left); }));
  if (took_it) w.publish();  // something else for the worker, which searches until it has found so much
};

TEST(guests_model, what_is_left_to_a_guest_gets_done) {
  expect_no_fault(check(4, {owner, leaver}));
  expect_no_fault(check(3, {owner_of_two, leaver, [](world& w) { w.publish(); }}));
}

TEST(guests_model, finds_a_guest_that_does_not_come_and_says_nothing) {
  EXPECT_NE(check(4, {owner, leaver}, [](world& w) { w.guests_stop_asking = false; }).fault, "");
}

TEST(guests_model, a_guest_that_sleeps_is_woken_and_not_the_workers_own_thread) {
  const auto sleeps_in_its_call = [](world& w) {
    w.gate.start_search();
    while (!world::take_from(w.named)) {
      if (w.gate.prepare_sleep(0, wake_for::name)) w.hand_over(0);
      w.touch(0);
      if (w.named.load() > 0) {
        w.gate.cancel_sleep(0, wake_for::name);
      } else {
        w.gate.sleep(0);
      }
      w.touch(0);
    }
    if (w.gate.stop_search()) w.hand_over(0);
  };
  const auto sleeper = [&](world& w) {
    if (w.visit(0, [&] { sleeps_in_its_call(w); })) return;
    while (!world::take_from(w.named)) checker::now().pause();
  };
  expect_no_fault(check(3, {owner, sleeper, [](world& w) {
                              w.publish_to_first();
                              w.publish_to_first();
                            }}));
}

TEST(guests_model, finds_a_guest_that_does_not_look_before_it_leaves) {
  EXPECT_NE(check(3, {owner, visitor, [](world& w) { w.publish_to_first(); }},
                  [](world& w) { w.guests_look = false; })
                .fault,
            "");
}

TEST(guests_model, finds_a_guest_that_is_still_the_worker_after_it_has_left) {
  EXPECT_NE(
      check(3, {owner, visitor, [](world& w) { w.publish(); }}, [](world& w) { w.guests_touch_after = true; })
          .fault,
      "");
}

}  // namespace
}  // namespace teff::test
