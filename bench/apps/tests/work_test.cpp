#include "teff/apps/work.hpp"

#include <gtest/gtest.h>

#include "teff/bench/failure.hpp"
#include "teff/bench/flags.hpp"

namespace teff::apps {
namespace {

work parsed(const std::string& line) {
  return std::get<work>(parse_work(bench::words_of(line)));
}
work_in_steps parsed_steps(const std::string& line) {
  return std::get<work_in_steps>(parse_work(bench::words_of(line)));
}

TEST(work, is_what_the_flags_say) {
  const work asked = parsed("-app cholesky --size=1000 -block 64");
  EXPECT_EQ(asked.what, app::cholesky);
  EXPECT_EQ(asked.size, 1000);
  EXPECT_EQ(asked.block, 64);
  EXPECT_EQ(asked.sizes, block_sizes::equal);
  EXPECT_EQ(parsed("-blocks random").sizes, block_sizes::random);
}

TEST(work, refuses_flags_that_are_wrong) {
  for (const auto* line : {"-app lu", "-app hpccg -block 3", "-app hpccg -grid 3x3", "-app hpccg -tasks -1",
                           "-app hpccg -tasks many", "-app gemm -tasks 3", "-size 0", "-block 0",
                           "-size 4096 -block 1", "-size many", "-rows 8", "-blocks odd"})
    EXPECT_THROW(static_cast<void>(parse_work(bench::words_of(line))), bench::usage_error) << line;
}

TEST(work, of_an_app_over_ways_is_what_the_flags_say) {
  for (const auto* line : {"-app hpccg -grid 2x3x4 -tasks 12", "--tasks=12 --grid=2x3x4 --app=HPCCG"}) {
    const work_in_steps asked = parsed_steps(line);
    EXPECT_EQ(asked.what->name, "hpccg");
    EXPECT_EQ(asked.tasks, 12);
    EXPECT_EQ(asked.make({})->parameters()["grid"], bench::json::array({2, 3, 4}));
  }
  for (const auto* line : {"-app hpccg", "-app hpccg -tasks auto", "-app hpccg -tasks 0"})
    EXPECT_EQ(parsed_steps(line).tasks, 0) << line;
}

TEST(work, names_every_app_as_it_reads_it) {
  for (const app each : {app::gemm, app::gemm_3d, app::cholesky})
    EXPECT_EQ(parsed("-app " + name_of(each)).what, each);
}

}  // namespace
}  // namespace teff::apps
