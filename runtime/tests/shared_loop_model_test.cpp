// Workers that claim pieces of one loop, on their interleavings. Each iteration runs once. One worker finds
// that it has ended the last one, and sees all of them. No iteration is left when no worker takes part.
#include <gtest/gtest.h>
#include <teff/detail/loops/shared_loop.hpp>

#include "interleavings.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace teff::test {
namespace {

using checked::checker;
using checked::plain;

// Faults that the checker must find.
template <class T>
struct unordered_count : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  T fetch_sub(T value, std::memory_order) {
    return checked::atomic<T>::fetch_sub(value, std::memory_order_relaxed);
  }
};
template <class T>
struct count_in_two_steps : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  T fetch_sub(T value, std::memory_order) {
    const T old = this->load(std::memory_order_acquire);
    checked::atomic<T>::store(old - value, std::memory_order_release);
    return old;
  }
};
template <class T>
struct claim_in_two_steps : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) {
    const T seen = this->load(std::memory_order_relaxed);
    if (seen != expected) {
      expected = seen;
      return false;
    }
    this->store(desired, std::memory_order_relaxed);
    return true;
  }
};
template <class T>
struct offer_in_two_steps : checked::atomic<T> {
  using checked::atomic<T>::atomic;
  T exchange(T value, std::memory_order) {
    const T old = this->load(std::memory_order_acquire);
    this->store(value, std::memory_order_release);
    return old;
  }
};

enum class fault { none, counts_first, leaves_without_offer, clears_late };

// Two workers, and a queue for the offer. A worker that is not the first takes the offer, if it is there; it
// leaves after each piece, and looks at the queue again.
template <template <class> class Atomic>
struct two_workers {
  static constexpr std::uint32_t units = 3;
  std::array<typename detail::shared_loop<Atomic>::part, 2> parts;
  detail::shared_loop<Atomic> loop{parts.data(), 2};
  checked::atomic<int> queued{0};
  plain slot;  // in the queue: guarded by the order of offers
  std::array<plain, units> ran;
  std::array<int, units> times{};
  int ends = 0;
  bool in_two_queues = false;

  void offer() {
    if (!loop.begin_offer()) return;
    slot.write(1);
    if (queued.exchange(1, std::memory_order_acq_rel) != 0) in_two_queues = true;
  }
  void end(std::uint64_t count) {
    if (!loop.end(count)) return;
    ++ends;
    for (auto& each : ran)
      if (each.read() != 1) checker::fail("the loop ended before an iteration");
  }
  // Whether the worker found nothing to claim.
  bool run_pieces(unsigned worker, bool leaves, fault put_in) {
    std::uint64_t done = 0;
    for (;;) {
      const auto some = loop.claim(worker, [](std::uint32_t) { return 1; });
      if (some.count() == 0) break;
      if (put_in == fault::counts_first) end(some.count());
      for (auto i = some.first; i < some.last; ++i) {
        ran[i].write(1);
        ++times[i];
      }
      if (put_in != fault::counts_first) done += some.count();
      if (!leaves) continue;
      if (put_in != fault::leaves_without_offer) offer();
      if (done != 0) end(done);
      return false;
    }
    if (done != 0) end(done);
    return true;
  }
  void take_offers(unsigned worker, fault put_in) {
    for (int looks = 0; looks < 4; ++looks) {
      if (queued.exchange(0, std::memory_order_acq_rel) == 0) return;
      static_cast<void>(slot.read());
      if (put_in != fault::clears_late) loop.take_offer();
      static_cast<void>(run_pieces(worker, looks == 0, put_in));
      if (put_in == fault::clears_late) loop.take_offer();
    }
  }
};

template <template <class> class Atomic>
checker::outcome check(fault put_in = fault::none, int preemptions = 3) {
  using world = two_workers<Atomic>;
  return checked::check_threads<world>(
      [] { return std::make_shared<world>(); },
      {[put_in](world& all) {  // the worker of the task
         all.loop.begin(world::units);
         all.offer();
         static_cast<void>(all.run_pieces(0, true, put_in));
         all.end(1);
         all.take_offers(0, put_in);
       },
       [put_in](world& all) { all.take_offers(1, put_in); }},
      [](world& all) {
        // An offer is left if the workers did not look again.
        all.take_offers(0, fault::none);
        for (const int each : all.times)
          if (each != 1) checker::fail("an iteration ran " + std::to_string(each) + " times");
        if (all.ends != 1) checker::fail(std::to_string(all.ends) + " ends");
        if (all.in_two_queues) checker::fail("the offer was queued twice");
      },
      preemptions);
}

TEST(shared_loop, moves_half_of_another_part_and_all_that_is_no_longer_than_a_chunk) {
  std::array<detail::shared_loop<>::part, 2> parts;
  detail::shared_loop<> loop{parts.data(), 2};
  loop.begin(40);
  const auto claim = [&](std::uint32_t chunk) {
    return loop.claim(0, [chunk](std::uint32_t) { return chunk; }).count();
  };
  EXPECT_EQ(claim(100), 20U);
  EXPECT_EQ(claim(4), 4U);
  EXPECT_EQ(claim(100), 6U);  // half of the other part is 10
  EXPECT_EQ(claim(100), 10U);
  EXPECT_EQ(claim(100), 0U);
}

TEST(shared_loop_model, each_iteration_runs_once_and_one_worker_ends_the_loop) {
  expect_no_fault(check<checked::atomic>());
}
TEST(shared_loop_model, finds_a_count_that_orders_nothing) {
  EXPECT_NE(check<unordered_count>().fault, "");
}
TEST(shared_loop_model, finds_a_count_in_two_steps) {
  EXPECT_NE(check<count_in_two_steps>().fault, "");
}
TEST(shared_loop_model, finds_a_claim_in_two_steps) {
  EXPECT_NE(check<claim_in_two_steps>().fault, "");
}
TEST(shared_loop_model, finds_an_offer_in_two_steps) {
  EXPECT_NE(check<offer_in_two_steps>().fault, "");
}
TEST(shared_loop_model, finds_iterations_that_count_as_ended_before_they_run) {
  EXPECT_NE(check<checked::atomic>(fault::counts_first).fault, "");
}
TEST(shared_loop_model, finds_a_worker_that_leaves_without_an_offer) {
  EXPECT_NE(check<checked::atomic>(fault::leaves_without_offer).fault, "");
}
TEST(shared_loop_model, finds_an_offer_that_is_cleared_after_the_last_look) {
  EXPECT_NE(check<checked::atomic>(fault::clears_late).fault, "");
}

}  // namespace
}  // namespace teff::test
