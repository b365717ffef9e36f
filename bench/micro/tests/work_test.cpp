#include "teff/micro/work.hpp"

#include <gtest/gtest.h>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::micro {
namespace {

work parsed(const std::string& line) {
  return parse_work(bench::words_of(line));
}

TEST(work, is_what_the_flags_say) {
  const work asked = parsed("-rows 4 --columns=3 -dependences 2 -spin 1e-06");
  EXPECT_EQ(asked.tasks(), 12);
  EXPECT_EQ(asked.edges(), 16);
  EXPECT_EQ(asked.spin, std::chrono::microseconds(1));
  EXPECT_FALSE(asked.is_inserted);
  EXPECT_TRUE(parsed("-columns 5 -inserted").is_inserted);
  EXPECT_EQ(parsed("-columns 5").made_by, shape::tasks);
  const work regions = parsed("-shape regions -rows 0");
  EXPECT_EQ(name(regions.made_by), "regions");
  EXPECT_EQ(regions.rows, 0) << "as many as workers";
}

TEST(work, refuses_flags_that_are_wrong) {
  for (const auto* line : {"-rows -1", "-columns none", "-dependences 11", "-rows 3 -dependences 4",
                           "-spin -1", "-inserted -dependences 1", "-width 4", "-shape star",
                           "-shape chunks -dependences 1", "-shape recursion -inserted"})
    EXPECT_THROW(static_cast<void>(parsed(line)), bench::usage_error) << line;
}

}  // namespace
}  // namespace teff::micro
