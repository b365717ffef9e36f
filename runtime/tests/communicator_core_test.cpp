// The protocol of a communicator, without workers. One thread plays all ranks over a simulated network, in an
// order that a seed chooses. The same seed gives the same order.
#include "message/communicator_core.hpp"
#include <gtest/gtest.h>
#include <malloc.h>
#include <teff/detail/message/arguments.hpp>
#include <teff/error.hpp>
#include <teff/simulated.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "workers.hpp"

namespace teff::test {
namespace {

// How many schedules each test explores.
int schedules() {
  const char* const asked = std::getenv("TEFF_TEST_SCHEDULES");
  return asked == nullptr ? 300 : std::atoi(asked);
}

// The content of a message.
struct hop {
  std::uint32_t epoch;
  std::uint32_t hops_left;
  std::uint64_t payload;
};

struct quiet_host final : detail::message_host {
  void work_came() noexcept override {}
  void state_changed() noexcept override {}
  bool at_rest() noexcept override { return true; }
  std::uint64_t left() noexcept override { return 0; }
};

// A job of several epochs, whose bodies and handlers send messages. The schedule says which rank makes the
// next step.
class played_job {
 public:
  // `differs`: the rank that registers other messages; -1: none.
  played_job(int ranks, std::uint64_t seed, std::size_t window, int differs = -1)
      : random_(seed), network_(ranks, random_()), ranks_(ranks), differs_(differs >= 0) {
    for (int i = 0; i < ranks; ++i) {
      players_.push_back(std::make_unique<player>());
      auto& each = *players_.back();
      each.core = std::make_unique<detail::communicator_core>(network_.rank(i), each.host, window,
                                                              static_cast<int>(random_() % 3));
      for (const bool ordered : {false, true}) {
        const auto number = each.core->add(
            {i == differs ? "jump" : "hop", ordered, [this, i](std::span<const std::byte> bytes) {
               handle(i, std::get<0>(detail::take_arguments<hop>(bytes)));
             }});
        EXPECT_EQ(number, ordered ? 1U : 0U);
      }
      EXPECT_EQ(each.core->add(large_hop(i)), 2U);
    }
  }

  // The failure in an epoch: this rank throws when it handles its n-th message.
  int failing_rank = -1;
  int failing_message = 0;

  // Plays an epoch until all ranks have ended it. Returns the failures by rank.
  std::vector<std::exception_ptr> play(int messages) {
    ++epoch_;
    sent_ = handled_ = sent_large_ = reused_ = 0;
    running_ = ranks_;
    for (auto& each : players_) {
      each->begun = each->body_over = each->finished = false;
      each->to_send = static_cast<int>(random_() % static_cast<unsigned>(messages + 1));
      each->handled = 0;
    }
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(ranks_));
    // Each step checks that no rank ends the epoch before all messages are handled.
    std::uint64_t steps = 0;
    while (running_ != 0) {
      const auto who = static_cast<std::size_t>(random_() % static_cast<unsigned>(ranks_));
      step(static_cast<int>(who), failures[who]);
      if (++steps > 10'000'000) {
        ADD_FAILURE() << "the epoch does not end";
        return failures;
      }
    }
    if (!fails()) {
      EXPECT_EQ(handled_, sent_);
      EXPECT_EQ(reused_, sent_large_);
    }
    // A rank does not read packets of a rank that differs. The end of the channel frees their deposits.
    if (!differs_) {
      EXPECT_EQ(network_.deposited(), 0U);
    }
    // No rank writes there any more; the address sanitizer would tell.
    landed_.clear();
    // Packets that are left in the network belong to no epoch.
    return failures;
  }

 private:
  struct player {
    quiet_host host;
    std::unique_ptr<detail::communicator_core> core;
    bool begun = false;
    bool body_over = false;
    bool finished = false;
    int to_send = 0;
    int handled = 0;
  };

  bool send(int from, int to, const hop& what) {
    if (random_() % 4 == 0) return send_large(from, to, what);
    const bool sent = players_[static_cast<std::size_t>(from)]->core->try_send(to, random_() % 4 == 0 ? 1 : 0,
                                                                               detail::outgoing<hop>(what));
    if (sent) ++sent_;
    return sent;
  }

  // The data repeat the content of the message. When they may be changed, the sender overwrites them.
  bool send_large(int from, int to, const hop& what) {
    struct arguments {
      hop what;
      bool* sent;
    };
    auto& core = *players_[static_cast<std::size_t>(from)]->core;
    const auto data = std::make_shared<std::vector<std::byte>>(random_() % 200, payload_byte(what));
    bool sent = false;
    bool done = false;
    const arguments all{what, &sent};
    const auto write = [](const void* of, std::byte* at) {
      const auto& each = *static_cast<const arguments*>(of);
      std::memcpy(at, &each.what, sizeof each.what);
      *each.sent = true;
    };
    core.large().offer(
        to, *data,
        [this, data] {
          std::ranges::fill(*data, std::byte{0xee});
          ++reused_;
        },
        {sizeof what, write, &all},
        [&](const detail::outgoing_arguments& offered) { done = core.try_send(to, 2, offered); });
    if (sent) {
      ++sent_;
      ++sent_large_;
    }
    return done;
  }
  static std::byte payload_byte(const hop& what) { return static_cast<std::byte>(what.payload & 0x7f); }

  detail::registered_message large_hop(int rank) {
    auto functions = std::make_shared<detail::large_functions>();
    functions->land = [this](std::span<const std::byte> /*arguments*/, std::size_t bytes) {
      return std::span(landed_.emplace_back(bytes));
    };
    functions->arrived = [this, rank](std::span<const std::byte> arguments, std::span<std::byte> data) {
      const auto what = std::get<0>(detail::take_arguments<hop>(arguments));
      EXPECT_EQ(std::ranges::count(data, payload_byte(what)), std::ssize(data));
      handle(rank, what);
    };
    detail::registered_message made;
    made.arguments = "large hop";
    made.large = std::move(functions);
    return made;
  }

  [[nodiscard]] bool fails() const { return failing_rank >= 0 || differs_; }
  int anyone() { return static_cast<int>(random_() % static_cast<unsigned>(ranks_)); }

  void step(int who, std::exception_ptr& failure) {
    auto& me = *players_[static_cast<std::size_t>(who)];
    auto& core = *me.core;
    if (me.finished) return;
    if (!me.begun) {
      // A late rank gets messages of an epoch that it has not begun.
      if (random_() % 4 == 0) {
        core.begin();
        me.begun = true;
      } else {
        core.progress();
      }
      return;
    }
    switch (random_() % 5) {
      case 0:
        if (me.body_over) break;
        if (me.to_send == 0) {
          core.body_ended(nullptr);
          me.body_over = true;
        } else if (send(who, anyone(), {epoch_, static_cast<std::uint32_t>(random_() % 4), random_()})) {
          --me.to_send;
        }
        break;
      case 1:
        core.handle();
        break;
      case 2:
        core.work();
        break;
      default:
        core.progress();
    }
    if (core.ended()) {
      EXPECT_TRUE(me.body_over);
      if (!fails()) {
        EXPECT_EQ(handled_, sent_) << "rank " << who << " has ended too early";
        EXPECT_EQ(reused_, sent_large_) << "rank " << who << " has ended too early";
      }
      me.finished = true;
      failure = core.take_failure();
      --running_;
    }
  }

  void handle(int who, const hop& what) {
    auto& me = *players_[static_cast<std::size_t>(who)];
    EXPECT_EQ(what.epoch, epoch_);
    EXPECT_TRUE(me.begun);
    EXPECT_FALSE(me.finished) << "a message came after the end";
    ++handled_;
    if (who == failing_rank && me.handled++ == failing_message) throw std::runtime_error("as asked");
    if (what.hops_left != 0) {
      EXPECT_TRUE(send(who, anyone(), {what.epoch, what.hops_left - 1, what.payload}));
    }
  }

  std::mt19937_64 random_;
  simulated network_;
  int ranks_;
  bool differs_;
  std::vector<std::unique_ptr<player>> players_;
  std::uint32_t epoch_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t handled_ = 0;
  std::uint64_t sent_large_ = 0;
  std::uint64_t reused_ = 0;
  std::deque<std::vector<std::byte>> landed_;
  int running_ = 0;
};

template <class Play>
void on_schedules(Play play) {
  const auto first = fresh_seed();
  for (int i = 0; i < schedules(); ++i) {
    const auto seed = first + static_cast<std::uint64_t>(i);
    SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed << " TEFF_TEST_SCHEDULES=1");
    play(seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(communicator_core, an_epoch_ends_when_nothing_is_left_and_not_before) {
  on_schedules([](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    played_job job(1 + static_cast<int>(random() % 6), seed, random() % 2 == 0 ? 128 : 1 << 20);
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (const auto& failure : job.play(static_cast<int>(random() % 8))) EXPECT_EQ(failure, nullptr);
    }
  });
}

TEST(communicator_core, a_failure_ends_the_epoch_on_all_ranks_and_the_next_one_is_as_any_other) {
  on_schedules([](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const int ranks = 1 + static_cast<int>(random() % 6);
    played_job job(ranks, seed, 1 << 20);
    job.failing_rank = static_cast<int>(random() % static_cast<unsigned>(ranks));
    job.failing_message = static_cast<int>(random() % 3);
    const auto failures = job.play(8);
    int thrown = 0;
    for (const auto& each : failures) thrown += each != nullptr ? 1 : 0;
    // The schedule decides whether the rank handles so many messages. If it does, all ranks hear of it.
    EXPECT_TRUE(thrown == 0 || thrown == ranks) << thrown << " of " << ranks;
    for (int rank = 0; rank < ranks && thrown != 0; ++rank) {
      try {
        std::rethrow_exception(failures[static_cast<std::size_t>(rank)]);
      } catch (const rank_failed& e) {
        EXPECT_NE(rank, job.failing_rank);
        EXPECT_EQ(e.rank, job.failing_rank);
        EXPECT_EQ(e.what(), "teff: rank " + std::to_string(e.rank) + ": as asked");
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(rank, job.failing_rank);
        EXPECT_EQ(std::string(e.what()), "as asked");
      }
    }
    job.failing_rank = -1;
    for (const auto& failure : job.play(5)) EXPECT_EQ(failure, nullptr);
  });
}

// Also if the parent begins late, and finds out from a packet that has waited before other packets.
TEST(communicator_core, ranks_that_differ_fail_the_epoch_on_all_ranks_which_ends) {
  on_schedules([](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const int ranks = 2 + static_cast<int>(random() % 5);
    played_job job(ranks, seed, 1 << 20, static_cast<int>(random() % static_cast<unsigned>(ranks)));
    for (const auto& failure : job.play(8)) {
      if (failure == nullptr) {
        ADD_FAILURE() << "nothing is said on one of the ranks";
        continue;
      }
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& e) {
        const std::string what = e.what();
        EXPECT_NE(what.find("have registered different messages"), std::string::npos) << what;
      }
    }
  });
}

// An epoch of so many ranks, in which each sends a message to the ranks so far from it, and all make a step
// in turns.
struct wide_epoch {
  wide_epoch(int ranks, const std::vector<int>& distances) {
    const auto bytes_before = bytes_in_use();
    simulated network(ranks, fresh_seed());
    std::vector<quiet_host> hosts(static_cast<std::size_t>(ranks));
    std::deque<detail::communicator_core> cores;
    for (int rank = 0; rank < ranks; ++rank) {
      cores.emplace_back(network.rank(rank), hosts[static_cast<std::size_t>(rank)], 1 << 16);
      cores.back().add({"hop", false, [&](std::span<const std::byte> /*arguments*/) { ++handled; }});
    }
    for (auto& each : cores) each.begin();
    for (int rank = 0; rank < ranks; ++rank)
      for (const int away : distances)
        EXPECT_TRUE(cores[static_cast<std::size_t>(rank)].try_send((rank + away) % ranks, 0,
                                                                   detail::outgoing<hop>(hop{})));
    for (auto& each : cores) each.body_ended(nullptr);
    const auto has_ended = [](const auto& each) { return each.ended(); };
    for (; !std::ranges::all_of(cores, has_ended) && steps < 1000; ++steps) {
      for (auto& each : cores) {
        if (each.ended()) continue;
        each.progress();
        each.handle();
        each.work();
      }
    }
    bytes_of_rank = static_cast<double>(bytes_in_use() - bytes_before) / ranks;
  }
  // 0 under a sanitizer.
  static std::size_t bytes_in_use() {
    const auto all = ::mallinfo2();
    return all.uordblks + all.hblkhd;
  }
  int handled = 0;
  int steps = 0;
  double bytes_of_rank = 0;
};

// The counts go up the tree of ranks, and the end comes down.
TEST(communicator_core, an_epoch_of_many_ranks_ends_after_steps_that_grow_as_their_logarithm) {
  for (const int ranks : {4, 16, 64, 256, 4096}) {
    const wide_epoch played(ranks, {1, ranks / 2});
    EXPECT_EQ(played.handled, 2 * ranks);
    EXPECT_LE(played.steps, 2 * std::bit_width(static_cast<unsigned>(ranks)) + 2) << ranks << " ranks";
  }
}

TEST(communicator_core, a_rank_takes_memory_for_the_ranks_that_it_talks_to_alone) {
  const wide_epoch of_two(64, {1, 32});
  const wide_epoch of_six(64, {1, 2, 4, 8, 16, 32});
  for (const int ranks : {1024, 4096}) {
    std::vector<int> distances;
    for (int away = 1; away < ranks; away *= 2) distances.push_back(away);
    ASSERT_LE(wide_epoch(ranks, {1, ranks / 2}).bytes_of_rank, 1.05 * of_two.bytes_of_rank) << ranks;
    ASSERT_LE(wide_epoch(ranks, distances).bytes_of_rank / std::ssize(distances),
              1.05 * of_six.bytes_of_rank / 6)
        << ranks;
  }
}

// completion.md, "The seal".
TEST(communicator_core, a_hold_that_begins_between_two_waves_keeps_the_epoch_open_until_its_release) {
  simulated network(1, fresh_seed());
  quiet_host host;
  detail::communicator_core core(network.rank(0), host, 1 << 20);
  for (int epoch = 0; epoch < 2; ++epoch) {
    core.begin();
    core.body_ended(nullptr);
    core.progress();  // the first wave, after which the rank is asked again
    EXPECT_FALSE(core.ended());
    core.hold();
    for (int i = 0; i < 10; ++i) core.progress();
    EXPECT_FALSE(core.ended());
    core.end_hold();
    for (int i = 0; i < 10; ++i) core.progress();
    EXPECT_TRUE(core.ended());
  }
}

// The course of a schedule, in one number.
std::uint64_t trace_of(std::uint64_t seed) {
  simulated network(3, seed);
  std::vector<std::unique_ptr<channel>> ends;
  for (int i = 0; i < 3; ++i) ends.push_back(network.rank(i).open());
  std::mt19937_64 random(seed);
  std::uint64_t trace = 0;
  for (int i = 0; i < 200; ++i) {
    const auto who = random() % 3;
    packet bytes;
    *bytes.append(1) = static_cast<std::byte>(i);
    ends[who]->send(static_cast<int>(random() % 3), std::move(bytes));
    if (const auto came = ends[random() % 3]->receive())
      trace = trace * 31 + static_cast<std::uint64_t>(came->from) * 256 +
              std::to_integer<std::uint64_t>(*came->bytes.data());
  }
  return trace + network.now();
}

TEST(simulated, does_the_same_again_from_the_same_seed) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  EXPECT_EQ(trace_of(seed), trace_of(seed));
  EXPECT_NE(trace_of(seed), trace_of(seed + 1));
}

TEST(simulated, reorders_packets_of_different_pairs_but_none_of_one_pair_and_loses_none) {
  const auto seed = fresh_seed();
  SCOPED_TRACE(testing::Message() << "TEFF_TEST_SEED=" << seed);
  simulated network(3, seed);
  std::vector<std::unique_ptr<channel>> ends;
  for (int i = 0; i < 3; ++i) ends.push_back(network.rank(i).open());
  for (int i = 0; i < 100; ++i) {
    for (const int from : {1, 2}) {
      packet bytes;
      *bytes.append(1) = static_cast<std::byte>(i);
      ends[static_cast<std::size_t>(from)]->send(0, std::move(bytes));
    }
  }
  int next[3] = {};
  bool overtaken = false;
  while (const auto came = ends[0]->receive()) {
    EXPECT_EQ(std::to_integer<int>(*came->bytes.data()), next[came->from]++);
    overtaken |= next[1] > next[2] + 1 || next[2] > next[1] + 1;
  }
  EXPECT_EQ(next[1], 100);
  EXPECT_EQ(next[2], 100);
  EXPECT_TRUE(overtaken);
  EXPECT_EQ(network.under_way(), 0U);
}

}  // namespace
}  // namespace teff::test
