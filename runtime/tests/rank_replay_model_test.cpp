// Ranks of a replay and the words that they share, on their interleavings: stamps of kept outputs, and the
// bells of sleeping ranks.
#include <gtest/gtest.h>
#include <teff/detail/distributed/replay_ranks.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "distributed/replay_memory.hpp"
#include "interleavings.hpp"

namespace teff::test {
namespace {

using checked::checker;
using checked::futex;

// A fault in the code, which the checker finds.
enum class fault { none, overwrites_early, rings_early, looks_early, does_not_listen, has_no_fence };

// Rank 0 makes outputs, of which it keeps `kept`. Each other rank reads them one after the other, and says by
// its own stamps that it has read. Rank 0 may wait for these stamps before it overwrites, as where ranks read
// each other's outputs.
template <template <class> class Atomic = checked::atomic>
struct ranks {
  static constexpr std::uint64_t most_kept = 2;
  struct slot {
    std::array<checked::plain, 2> output;  // a copy for each reader: two may read at once
    detail::replay_stamp<Atomic> stamp;
  };
  using slots = std::array<slot, most_kept>;

  ranks() { futex::wakes.clear(); }

  // Whether the rank has ended iteration `at`, counted from 0; as detail::rank_wait.
  bool ended(unsigned rank, std::int64_t at) const {
    return of[rank][static_cast<std::uint64_t>(at) % kept].stamp.reached(at + 1);
  }
  // As replay_ranks::wait_for(), without its spinning.
  void wait(unsigned me, unsigned other, std::int64_t at) {
    const auto done = [&] { return ended(other, at) || failed.load() != 0; };
    if (done()) return;
    if (with != fault::looks_early && with != fault::does_not_listen) {
      const auto barrier = [this] {
        if (with != fault::has_no_fence) checked::barrier_everywhere();
      };
      detail::sleep_on(bells[me], done, barrier, futex::wait);
      return;
    }
    while (!done()) {
      if (with == fault::looks_early) {
        futex::wait(bells[me].word(), bells[me].listen());
      } else {
        futex::wait(bells[me].word(), 0);
      }
    }
  }
  // As replay_ranks::ended().
  void tell(unsigned me, std::uint64_t i, std::vector<unsigned> waiting) {
    if (with == fault::rings_early)
      for (const unsigned each : waiting) bells[each].ring();
    of[me][i % kept].stamp.raise(i + 1);
    if (with != fault::rings_early)
      for (const unsigned each : waiting) bells[each].ring();
  }

  void produce(std::uint64_t times, unsigned readers) {
    std::vector<unsigned> waiting;
    for (unsigned each = 1; each <= readers; ++each) waiting.push_back(each);
    for (std::uint64_t i = 0; i < times; ++i) {
      const auto read = static_cast<std::int64_t>(i - kept);
      if (with != fault::overwrites_early)
        for (const unsigned each : waiting) wait(0, each, read);
      if (failed.load() != 0) return;
      for (const unsigned each : waiting) of[0][i % kept].output[each - 1].write(static_cast<int>(i));
      tell(0, i, waiting);
    }
  }
  void consume(unsigned me, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      wait(me, 0, static_cast<std::int64_t>(i));
      if (failed.load() != 0) return;
      if (of[0][i % kept].output[me - 1].read() != static_cast<int>(i))
        checker::fail("the output of another iteration");
      tell(me, i, {0});
    }
  }
  // Two ranks read outputs of each other, each from the iteration before. No other stamp says that a rank may
  // overwrite.
  void exchange(unsigned me, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      wait(me, 1 - me, static_cast<std::int64_t>(i) - 1);
      if (i > 0 && of[1 - me][(i - 1) % kept].output[0].read() != static_cast<int>(i - 1))
        checker::fail("the output of another iteration");
      of[me][i % kept].output[0].write(static_cast<int>(i));
      tell(me, i, {1 - me});
    }
  }
  // As replay_ranks::spread_failure().
  void fail(std::vector<unsigned> waiting) {
    failed.store(1, std::memory_order_seq_cst);
    for (const unsigned each : waiting) bells[each].ring();
  }

  std::uint64_t kept = most_kept;
  fault with = fault::none;
  std::array<slots, 3> of;
  std::array<detail::bell<futex>, 3> bells;
  checked::atomic<int> failed{0};
};

template <class World = ranks<>>
checker::outcome check(const std::vector<std::function<void(World&)>>& threads, int preemptions,
                       fault with = fault::none, std::uint64_t kept = 2) {
  return checked::check_threads<World>(
      [=] {
        const auto world = std::make_shared<World>();
        world->with = with;
        world->kept = kept;
        return world;
      },
      threads, [](World&) {}, preemptions);
}

template <class World = ranks<>>
checker::outcome check_one_way(std::uint64_t times, int preemptions, fault with = fault::none,
                               std::uint64_t kept = 2) {
  return check<World>({[=](World& w) { w.produce(times, 1); }, [=](World& w) { w.consume(1, times); }},
                      preemptions, with, kept);
}

TEST(rank_replay_model, a_reader_finds_each_output_and_none_is_overwritten_before_that) {
  for (const std::uint64_t kept : {1U, 2U}) {
    expect_no_fault(check_one_way(3, 4, fault::none, kept), 1000);
    expect_no_fault(check_one_way(5, 2, fault::none, kept), 1000);
  }
}

TEST(rank_replay_model, two_readers_of_one_output_do_as_well) {
  expect_no_fault(check<ranks<>>({[](auto& w) { w.produce(2, 2); }, [](auto& w) { w.consume(1, 2); },
                                  [](auto& w) { w.consume(2, 2); }},
                                 2, fault::none, 1),
                  1000);
}

TEST(rank_replay_model, ranks_that_read_each_other_need_two_outputs_and_no_word_more) {
  expect_no_fault(check<ranks<>>({[](auto& w) { w.exchange(0, 4); }, [](auto& w) { w.exchange(1, 4); }}, 3),
                  1000);
  EXPECT_NE((check<ranks<>>({[](auto& w) { w.exchange(0, 3); }, [](auto& w) { w.exchange(1, 3); }}, 3,
                            fault::none, 1)
                 .fault),
            "");
}

TEST(rank_replay_model, those_who_sleep_hear_of_a_failure) {
  expect_no_fault(check<ranks<>>({[](auto& w) {
                                    w.produce(1, 1);
                                    w.fail({1});
                                  },
                                  [](auto& w) { w.consume(1, 3); }},
                                 4));
}

TEST(rank_replay_model, finds_an_output_that_is_overwritten_early) {
  EXPECT_NE(check_one_way(3, 3, fault::overwrites_early).fault, "");
}

TEST(rank_replay_model, finds_wakes_that_are_lost) {
  EXPECT_NE(check_one_way(3, 3, fault::rings_early).fault, "");
  EXPECT_NE(check_one_way(3, 3, fault::looks_early).fault, "");
  EXPECT_NE(check_one_way(3, 3, fault::does_not_listen).fault, "");
  EXPECT_NE(check_one_way(3, 3, fault::has_no_fence).fault, "");
}

TEST(rank_replay_model, finds_a_stamp_that_is_raised_or_read_by_too_weak_an_order) {
  EXPECT_NE(check_one_way<ranks<checked::without_release>>(2, 3).fault, "");
  EXPECT_NE(check_one_way<ranks<checked::without_acquire>>(2, 3).fault, "");
}

}  // namespace
}  // namespace teff::test
