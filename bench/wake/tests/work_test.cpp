#include "teff/wake/work.hpp"

#include <gtest/gtest.h>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"
#include "teff/wake/bare_wake.hpp"

namespace teff::wake {
namespace {

work parsed(const std::string& line) {
  return parse_work(bench::words_of(line));
}

TEST(work, is_what_the_flags_say) {
  const work asked = parsed("-idle 0.25 --wakes=3");
  EXPECT_EQ(asked.idle, seconds(0.25));
  EXPECT_EQ(asked.wakes, 3);
}

TEST(work, refuses_flags_that_are_wrong) {
  for (const auto* line : {"-wakes 0", "-idle -1", "-idle soon", "-sleep 1"})
    EXPECT_THROW(static_cast<void>(parsed(line)), bench::usage_error) << line;
}

TEST(quantile, is_the_smallest_sample_with_so_many_at_or_below_it) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(quantile({4, 1, 3, 2}, 0.95), 4);
  EXPECT_EQ(quantile({7}, 0.05), 7);
}

TEST(bare_wakes, are_as_many_as_asked_for) {
  const auto found = bare_wakes(3);
  if (found.empty()) GTEST_SKIP() << "one core only";
  EXPECT_EQ(found.size(), 3U);
  for (const double each : found) EXPECT_GT(each, 0);
}

}  // namespace
}  // namespace teff::wake
