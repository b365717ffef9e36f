#include "teff/messages/work.hpp"

#include <gtest/gtest.h>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::messages {
namespace {

work parsed(const std::string& line) {
  return parse_work(bench::words_of(line));
}

TEST(work, is_what_the_flags_say) {
  const work asked = parsed("-pattern burst --window=20000 -turns 3");
  EXPECT_EQ(asked.what, pattern::burst);
  EXPECT_EQ(asked.window, 20'000);
  EXPECT_EQ(asked.turns, 3);
  EXPECT_EQ(asked.parts(), 20'000);
  EXPECT_EQ(parsed("-pattern one_way -bytes 64").bytes, 64);
  EXPECT_EQ(parsed("-pattern idle -idle 0.5").idle_seconds, 0.5);
}

TEST(work, refuses_flags_that_are_wrong) {
  for (const auto* line : {"-pattern two_way", "-bytes 0", "-bytes 12", "-window 0", "-turns 0", "-idle 0",
                           "-idle soon", "-size 8"})
    EXPECT_THROW(static_cast<void>(parsed(line)), bench::usage_error) << line;
}

TEST(work, names_every_pattern_as_it_reads_it) {
  for (const pattern each : {pattern::one_way, pattern::burst, pattern::chain, pattern::idle})
    EXPECT_EQ(parsed("-pattern " + name(each)).what, each);
}

}  // namespace
}  // namespace teff::messages
