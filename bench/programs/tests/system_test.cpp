// Every program at tiny size on the system that this is linked with.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "teff/programs/work.hpp"

namespace teff::programs {
namespace {

class every_program : public testing::TestWithParam<std::tuple<description, int>> {};

TEST_P(every_program, has_the_result_of_one_thread_again_and_again) {
  const auto& [what, workers] = GetParam();
  const work asked{what, what.size(scale::tiny)};
  const auto system = this_system().start(workers);
  if (!system->load(asked)) GTEST_SKIP() << system->describe().system << " has no " << name(what.needs);
  const std::uint64_t expected = expected_checksum(asked);
  for (int run = 0; run < 5; ++run) {
    system->reset();
    system->run();
    EXPECT_EQ(system->checksum(), expected) << "in run " << run;
  }
}

TEST_P(every_program, runs_at_its_smallest_size) {
  const auto& [what, workers] = GetParam();
  const work asked{what, what.least};
  const auto system = this_system().start(workers);
  if (!system->load(asked)) GTEST_SKIP() << system->describe().system << " has no " << name(what.needs);
  system->run();
  EXPECT_EQ(system->checksum(), expected_checksum(asked));
}

std::string name_of(const testing::TestParamInfo<std::tuple<description, int>>& of) {
  const auto& [what, workers] = of.param;
  return std::string(what.name) + "_" + std::to_string(workers);
}

INSTANTIATE_TEST_SUITE_P(on, every_program,
                         testing::Combine(testing::ValuesIn(catalogue().begin(), catalogue().end()),
                                          testing::Values(1, 2, 5)),
                         name_of);

}  // namespace
}  // namespace teff::programs
