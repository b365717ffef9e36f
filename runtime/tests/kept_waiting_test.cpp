// When a thread that runs requests itself wakes a worker for the others.
#include "scheduler/kept_waiting.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace teff::test {
namespace {

struct set_clock {
  static std::int64_t now() noexcept { return at; }
  static std::int64_t in(std::int64_t nanoseconds) noexcept { return nanoseconds; }
  static inline std::int64_t at = 1;
};
using kept_waiting = detail::kept_waiting<set_clock>;
constexpr auto wake = kept_waiting::wake_nanoseconds;

TEST(kept_waiting, a_wake_is_due_when_others_have_waited_as_long_as_it_takes) {
  kept_waiting others;
  EXPECT_FALSE(others.begins_one(true));
  set_clock::at += wake / 2;
  EXPECT_FALSE(others.begins_one(true));
  set_clock::at += wake / 2;
  EXPECT_TRUE(others.begins_one(true));
  EXPECT_FALSE(others.begins_one(true)) << "it has been woken";
}

TEST(kept_waiting, what_nobody_waited_for_does_not_count) {
  kept_waiting others;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(others.begins_one(false));
    set_clock::at += wake;
  }
  EXPECT_FALSE(others.begins_one(true));
}

TEST(kept_waiting, a_long_time_counts_as_one_wake) {
  kept_waiting others;
  EXPECT_FALSE(others.begins_one(true));
  set_clock::at += 100 * wake;
  EXPECT_TRUE(others.begins_one(true));
  EXPECT_FALSE(others.begins_one(true));
}

TEST(kept_waiting, none_is_due_for_the_last_one) {
  kept_waiting others;
  EXPECT_FALSE(others.begins_one(true));
  set_clock::at += wake;
  EXPECT_FALSE(others.begins_one(false));
}

}  // namespace
}  // namespace teff::test
