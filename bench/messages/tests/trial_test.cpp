#include "teff/messages/trial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace teff::messages {
namespace {

/// Both ranks in one thread, without a way between them that could lose anything.
tally all_turns_of(const work& asked, std::size_t spoilt_byte) {
  bench::region_meter region;
  trial at(asked, 1, region);
  contents out(asked.bytes);
  for (std::int64_t turn = 0; turn < asked.all_turns(); ++turn) {
    const auto sent = out.numbered(static_cast<std::uint64_t>(turn));
    std::vector<std::byte> message(sent.begin(), sent.end());
    if (spoilt_byte < message.size()) message[spoilt_byte] ^= std::byte{1};
    at.arrived(message);
  }
  return at.seen();
}

constexpr std::size_t none = ~std::size_t{0};

TEST(trial, in_which_all_arrives_has_what_was_expected) {
  for (const std::size_t bytes : {8, 16, 64})
    EXPECT_EQ(all_turns_of({.bytes = bytes, .turns = 20}, none), expected({.bytes = bytes, .turns = 20}, 1));
}

TEST(trial, in_which_any_byte_is_spoilt_has_not) {
  const work asked{.bytes = 64, .turns = 3};
  for (std::size_t byte = 0; byte < asked.bytes; ++byte)
    EXPECT_NE(all_turns_of(asked, byte), expected(asked, 1)) << byte;
}

TEST(trial, has_the_turns_that_the_clock_sees_and_some_beside_them) {
  const work asked{.turns = 40};
  bench::region_meter region;
  trial at(asked, 0, region);
  std::int64_t turn = 0;
  while (at.begins(turn)) {
    EXPECT_EQ(region.elapsed().count() > 0, turn >= asked.warm_turns() + asked.turns) << turn;
    ++turn;
  }
  EXPECT_EQ(turn, asked.all_turns());
  EXPECT_GT(turn, asked.turns);
}

TEST(expectation, differs_where_a_message_is_lost_doubled_or_replaced) {
  const work asked{.what = pattern::burst, .window = 4, .turns = 2};
  const tally due = expected(asked, 1);
  EXPECT_EQ(due.count, 4 * asked.all_turns());
  tally doubled;
  for (std::int64_t number = 0; number + 1 < due.count; ++number)
    doubled.add(static_cast<std::uint64_t>(number));
  EXPECT_NE(doubled, due) << "one is lost";
  doubled.add(0);
  EXPECT_NE(doubled, due) << "another came twice";
}

TEST(expectation, of_a_chain_is_of_even_tasks_on_one_rank_and_of_odd_ones_on_the_other) {
  const work asked{.what = pattern::chain, .turns = 1};
  tally even;
  tally odd;
  for (std::int64_t turn = 0; turn < asked.all_turns(); ++turn) {
    odd.add(static_cast<std::uint64_t>(2 * turn + 1));
    even.add(static_cast<std::uint64_t>(2 * turn + 2));
  }
  EXPECT_EQ(expected(asked, 0), even);
  EXPECT_EQ(expected(asked, 1), odd);
}

TEST(fingerprint, tells_apart_what_is_swapped) {
  contents one(32);
  const auto message = one.numbered(7);
  std::vector<std::byte> swapped(message.begin(), message.end());
  std::swap_ranges(swapped.begin() + 8, swapped.begin() + 16, swapped.begin() + 16);
  EXPECT_NE(fingerprint(message), fingerprint(swapped));
  EXPECT_EQ(number_of(swapped), 7U);
}

}  // namespace
}  // namespace teff::messages
