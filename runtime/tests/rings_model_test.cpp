// The ring between two processes, the doorbell, and a gate whose sleepers listen to it, on their
// interleavings.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "interleavings.hpp"
#include "mpi/line_ring.hpp"
#include "platform/bell.hpp"
#include "scheduler/idle_gate.hpp"

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;
using detail::wake_for;

struct line_of_data {
  mutable checked::plain value;
};
using memory = detail::line_ring<futex, line_of_data>;

constexpr std::size_t lines = 4;

// ---- A producer and a consumer that sleep when there is no room, or nothing ----

// A fault in the code, which the checker finds.
enum class fault {
  none,
  listens_late,
  looks_late_for_room,
  does_not_listen,
  rings_early,
  says_too_little,
  does_not_hand_over
};

struct two_ends {
  explicit two_ends(fault left_out) : with(left_out) { futex::wakes.clear(); }
  const fault with;
  memory shared;
  memory::line store[lines];
  detail::ring_producer<futex, line_of_data> producer{shared, store, lines};
  // The consumer leaves at most one line unreported. With the fault it leaves three, and the producer may
  // need two of them.
  detail::ring_consumer<futex, line_of_data> consumer{shared, store, lines,
                                                      with == fault::says_too_little ? lines : 2U};
  detail::bell<futex> of_producer;
  detail::bell<futex> of_consumer;

  // Pieces have two lines and one line in turn.
  static constexpr std::size_t size_of(int piece) { return piece % 2 == 0 ? 2 : 1; }

  void produce(int pieces) {
    for (int piece = 0, value = 1; piece < pieces; ++piece) {
      const auto size = size_of(piece);
      while (!producer.finds_room(size)) {
        if (with != fault::looks_late_for_room) producer.starve();
        if (producer.finds_room(size)) break;
        const auto quiet = of_producer.listen();
        if (with == fault::looks_late_for_room) producer.starve();
        // As in rings::listen(): the room that was reported before may have been too little.
        if (with == fault::none || with == fault::says_too_little) {
          producer.starve();
          if (producer.has_room(size)) break;
        }
        futex::wait(of_producer.word(), quiet);
      }
      for (std::size_t i = 0; i < size; ++i) producer.at(i).value.write(value++);
      if (with == fault::rings_early) of_consumer.ring();
      producer.publish(size);
      if (with != fault::rings_early) of_consumer.ring();
    }
  }
  void consume(int pieces) {
    for (int piece = 0, value = 1; piece < pieces; ++piece) {
      while (!consumer.ready()) {
        const auto quiet = of_consumer.listen();
        if (with != fault::listens_late && consumer.ready()) break;
        futex::wait(of_consumer.word(), quiet);
      }
      for (std::size_t i = 0; i < size_of(piece); ++i) {
        if (consumer.at(i).value.read() != value++) checker::fail("another value than was put there");
      }
      if (consumer.give_back(size_of(piece), 1)) of_producer.ring();
    }
  }
};

checker::outcome check_ends(fault with, int pieces, int preemptions) {
  return checked::check_threads<two_ends>(
      [with] { return std::make_shared<two_ends>(with); },
      {[pieces](two_ends& w) { w.produce(pieces); }, [pieces](two_ends& w) { w.consume(pieces); }},
      [](two_ends&) {}, preemptions);
}

TEST(rings_model, what_is_put_arrives_though_both_ends_sleep) {
  expect_no_fault(check_ends(fault::none, 5, 4));
}

TEST(rings_model, finds_a_consumer_that_does_not_look_after_it_listens) {
  EXPECT_NE(check_ends(fault::listens_late, 2, 3).fault, "");
}

TEST(rings_model, finds_a_producer_that_does_not_look_for_room_after_it_says_that_it_starves) {
  EXPECT_NE(check_ends(fault::looks_late_for_room, 4, 3).fault, "");
}

TEST(rings_model, finds_a_consumer_that_keeps_more_lines_than_the_next_piece_leaves) {
  EXPECT_NE(check_ends(fault::says_too_little, 4, 3).fault, "");
}

TEST(rings_model, finds_a_producer_that_rings_before_it_has_published) {
  EXPECT_NE(check_ends(fault::rings_early, 2, 3).fault, "");
}

// ---- Workers of one process, which sleep by their gate, and a sender in another one ----

struct rank {
  rank() : gate(2) { futex::wakes.clear(), futex::clock = 0; }
  memory shared;
  memory::line store[lines];
  detail::ring_producer<futex, line_of_data> producer{shared, store, lines};
  detail::ring_consumer<futex, line_of_data> consumer{shared, store, lines, 1};
  detail::bell<futex> bell;
  detail::idle_gate<futex> gate;
  checked::atomic<int> receiving{0};
  checked::atomic<int> received{0};
  checked::atomic<int> work{0};
  fault with = fault::none;
  int messages = 1;

  static constexpr int far = futex::never - 1;
  static std::uint32_t sleeper_of(unsigned me) { return detail::bell<futex>::first_sleeper + me; }

  void send() {
    for (int i = 0; i < messages; ++i) {
      producer.at(0).value.write(1);
      producer.publish(1);
      bell.ring();
    }
  }
  void publish() {
    work.fetch_add(1);
    gate.notify_work(0);
  }
  bool all_received() { return received.load() == messages; }
  bool receive() {
    if (!consumer.ready()) return false;
    if (receiving.exchange(1) != 0) {
      checker::now().pause();  // another worker receives
      return false;
    }
    bool any = false;
    while (consumer.ready()) {
      consumer.at(0).value.read();
      static_cast<void>(consumer.give_back(1, 1));
      received.fetch_add(1);
      any = true;
    }
    receiving.store(0);
    if (all_received()) {
      for (unsigned each = 0; each < 2; ++each) gate.wake(each);
    }
    return any;
  }
  bool take_work() {
    int there = work.load();
    return there > 0 && work.compare_exchange_strong(there, there - 1);
  }
  void hand_over() {
    const bool listened = with == fault::does_not_hand_over || gate.somebody_wakes_by(far);
    if (work.load() > 0 || consumer.ready() || !listened) gate.wake_any(0);
  }
  // As worker_park.cpp, without spinning.
  void serve(unsigned me, wake_for what = wake_for::work) {
    gate.start_search();
    while (!all_received()) {
      if (receive()) continue;
      if (what == wake_for::work && take_work()) {
        if (gate.stop_search()) hand_over();
        checker::now().wait_until([this] { return received.peek() == messages; });
        return;
      }
      if (gate.prepare_sleep(me, what)) hand_over();
      std::uint32_t quiet = 0;
      if (with != fault::listens_late) quiet = bell.listen(sleeper_of(me));
      const bool awake = all_received() || consumer.ready() || (what == wake_for::work && work.load() > 0);
      if (with == fault::listens_late) quiet = bell.listen(sleeper_of(me));
      if (awake) {
        gate.cancel_sleep(me, what);
      } else if (with == fault::does_not_listen) {
        gate.sleep_until(me, what, far);
      } else {
        gate.sleep_until(me, what, far, {&bell.word(), quiet});
      }
    }
    if (gate.stop_search()) hand_over();
  }
};

// A deadlock is a fault: a message lies in the ring, and all workers that could receive it sleep.
checker::outcome check_rank(fault with, int messages, int preemptions,
                            const std::vector<std::function<void(rank&)>>& threads) {
  return checked::check_threads<rank>(
      [=] {
        auto made = std::make_shared<rank>();
        made->with = with;
        made->messages = messages;
        return made;
      },
      threads,
      [](rank& w) {
        if (!w.all_received()) checker::fail("a message was not received");
      },
      preemptions);
}

const auto first = [](rank& w) { w.serve(0); };
const auto second = [](rank& w) { w.serve(1); };
const auto second_by_name = [](rank& w) { w.serve(1, wake_for::name); };
const auto sender = [](rank& w) { w.send(); };
const auto sender_and_work = [](rank& w) {
  w.publish();
  w.send();
};
const auto publisher = [](rank& w) { w.publish(); };

TEST(rings_model, a_message_wakes_one_of_two_sleepers) {
  expect_no_fault(check_rank(fault::none, 1, 3, {first, second, sender}));
}

TEST(rings_model, messages_wake_a_worker_again_and_again) {
  expect_no_fault(check_rank(fault::none, 2, 3, {first, sender}));
  expect_no_fault(check_rank(fault::none, 2, 2, {first, second, sender}));
}

TEST(rings_model, a_message_wakes_one_of_two_that_wait_for_different_things) {
  expect_no_fault(check_rank(fault::none, 1, 3, {first, second_by_name, sender}));
}

TEST(rings_model, while_one_worker_is_busy_the_other_listens) {
  expect_no_fault(check_rank(fault::none, 1, 3, {first, second, sender_and_work}));
  expect_no_fault(check_rank(fault::none, 1, 2, {first, second, sender, publisher}));
}

TEST(rings_model, finds_a_worker_that_listens_after_its_last_look) {
  EXPECT_NE(check_rank(fault::listens_late, 1, 3, {first, second, sender}).fault, "");
}

TEST(rings_model, finds_a_worker_that_sleeps_without_the_bell) {
  EXPECT_NE(check_rank(fault::does_not_listen, 1, 3, {first, second, sender}).fault, "");
}

TEST(rings_model, finds_a_last_searcher_that_leaves_nobody_who_listens) {
  EXPECT_NE(check_rank(fault::does_not_hand_over, 1, 3, {first, second, sender_and_work}).fault, "");
}

}  // namespace
}  // namespace teff::test
