#include "teff/apps/work.hpp"

#include <gtest/gtest.h>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::apps {
namespace {

work parsed(const std::string& line) {
  return parse_work(bench::words_of(line));
}

TEST(work, is_what_the_flags_say) {
  const work asked = parsed("-app cholesky --size=1000 -block 64");
  EXPECT_EQ(asked.what->name, "cholesky");
  const bench::json said = asked.make({})->parameters();
  EXPECT_EQ(said["size"], 1000);
  EXPECT_EQ(said["block"], 64);
  EXPECT_EQ(said["blocks"], "equal");
  EXPECT_EQ(parsed("-size 100 -blocks random").what->name, "gemm");
  EXPECT_EQ(parsed("-size 100 -blocks random").make({})->parameters()["blocks"], "random");
}

TEST(work, refuses_flags_that_are_wrong) {
  for (const auto* line : {"-app lu", "-app hpccg -block 3", "-app hpccg -grid 3x3", "-app hpccg -tasks -1",
                           "-app hpccg -tasks many", "-app gemm -tasks 3", "-size 0", "-block 0",
                           "-size 4096 -block 1", "-size many", "-rows 8", "-blocks odd"})
    EXPECT_THROW(static_cast<void>(parse_work(bench::words_of(line))), bench::usage_error) << line;
}

TEST(work, of_an_app_with_loops_says_into_how_many_tasks_they_are_cut) {
  for (const auto* line : {"-app hpccg -grid 2x3x4 -tasks 12", "--tasks=12 --grid=2x3x4 --app=HPCCG"}) {
    const work asked = parsed(line);
    EXPECT_EQ(asked.what->name, "hpccg");
    EXPECT_EQ(asked.tasks, 12);
    EXPECT_EQ(asked.make({})->parameters()["grid"], bench::json::array({2, 3, 4}));
  }
  for (const auto* line : {"-app hpccg", "-app hpccg -tasks auto", "-app hpccg -tasks 0"})
    EXPECT_EQ(parsed(line).tasks, 0) << line;
}

}  // namespace
}  // namespace teff::apps
