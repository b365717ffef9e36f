// When workers share the tokens of a pipeline, by a clock that the test sets.
#include <teff/detail/pipeline/token_pace.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace teff::test {
namespace {

struct set_clock {
  static inline std::int64_t time = 0;
  static std::int64_t now() { return time; }
  static std::int64_t in(std::int64_t nanoseconds) { return nanoseconds; }
};

using lone = detail::lone_pace<set_clock>;
using shared = detail::shared_pace<set_clock>;

// Runs tokens of this length, with three looks each, until it pays to share. Returns how many came before.
int tokens_until_shared(lone& pace, std::int64_t nanoseconds, int most) {
  for (int token = 0; token < most; ++token) {
    for (int stage = 0; stage < 3; ++stage) {
      set_clock::time += nanoseconds / 3;
      if (pace.worth_sharing()) return token;
    }
    pace.ended_token();
  }
  return most;
}

TEST(token_pace, shares_no_short_tokens) {
  lone pace;
  EXPECT_EQ(tokens_until_shared(pace, 900, 1000), 1000);
}

TEST(token_pace, shares_long_tokens_when_two_were_long) {
  lone pace;
  EXPECT_EQ(tokens_until_shared(pace, 1500, 1000), 2);
}

TEST(token_pace, shares_in_the_middle_of_a_token_that_is_surely_long) {
  lone pace;
  EXPECT_EQ(tokens_until_shared(pace, 100'000, 1000), 0);
}

TEST(token_pace, does_not_believe_the_first_token_which_meets_a_cold_cache) {
  lone pace;
  EXPECT_EQ(tokens_until_shared(pace, 10'000, 1), 1);
  EXPECT_EQ(tokens_until_shared(pace, 300, 1000), 1000);
}

TEST(token_pace, notices_soon_that_tokens_have_become_long) {
  lone pace;
  EXPECT_EQ(tokens_until_shared(pace, 300, 1000), 1000);
  EXPECT_LT(tokens_until_shared(pace, 30'000, 1000), 6);
}

TEST(token_pace, forgets_the_time_in_which_no_worker_asked) {
  lone pace;
  for (int token = 0; token < 1000; ++token) {
    set_clock::time += 300;
    pace.ended_token();
  }
  EXPECT_EQ(tokens_until_shared(pace, 300, 1000), 1000);
}

// Whether the walk quits within so many stages of this length.
bool leaves(shared& pace, int stages, std::int64_t nanoseconds, bool lonely) {
  for (int stage = 0; stage < stages; ++stage) {
    set_clock::time += nanoseconds;
    pace.ran_stage();
    if (pace.leaves([&] { return lonely; })) return true;
  }
  return false;
}

TEST(token_pace, has_a_worker_leave_short_tokens_to_another) {
  shared pace(4);
  EXPECT_FALSE(leaves(pace, 1000, 300, false));
  EXPECT_TRUE(leaves(pace, 64, 100, false));
}

TEST(token_pace, has_a_worker_go_on_alone_if_no_other_helps_for_long) {
  shared pace(4);
  EXPECT_FALSE(leaves(pace, 100, 1000, true));
  EXPECT_TRUE(leaves(pace, 200, 1000, true));
  pace.restart();
  EXPECT_FALSE(leaves(pace, 1000, 1000, false));
}

}  // namespace
}  // namespace teff::test
