#include "teff/programs/work.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::programs {
namespace {

work parsed(const std::string& line) {
  return parse_work(bench::words_of(line));
}

TEST(work, is_what_the_flags_say) {
  EXPECT_EQ(parsed("-program sort").what.name, "sort");
  EXPECT_EQ(parsed("-program sort").size, sort::about.size(scale::usual));
  EXPECT_EQ(parsed("--program=fft -scale tiny").size, fft::about.size(scale::tiny));
  EXPECT_EQ(parsed("-program chain -scale large -size 7").size, 7);
}

TEST(work, refuses_flags_that_are_wrong) {
  for (const auto* line : {"-program quicksort", "-program sort -size 0", "-program fft -size 1000",
                           "-program nqueens -size 17", "-scale huge", "-size many", "-depth 3"})
    EXPECT_THROW(static_cast<void>(parsed(line)), bench::usage_error) << line;
}

TEST(catalogue, has_names_of_their_own_and_sizes_that_programs_take) {
  std::set<std::string_view> names;
  for (const description& each : catalogue()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    for (const auto* scale : {"tiny", "usual", "large"})
      EXPECT_NO_THROW(static_cast<void>(parsed("-program " + std::string(each.name) + " -scale " + scale)));
    EXPECT_NO_THROW(static_cast<void>(
        parsed("-program " + std::string(each.name) + " -size " + std::to_string(each.least))));
  }
}

}  // namespace
}  // namespace teff::programs
