#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "teff/apps/app.hpp"
#include "ways_in_tests.hpp"

namespace teff::apps {
namespace {

struct flags_of_app {
  std::string app;
  std::string flags;

  friend void PrintTo(const flags_of_app& of, std::ostream* to) { *to << of.app << ' ' << of.flags; }
};

std::unique_ptr<app_over_ways> made(const flags_of_app& of) {
  const auto apps = apps_over_ways();
  const auto what = std::ranges::find(apps, of.app, &description::name);
  CLI::App parser;
  const description::maker make = what->flags(parser);
  parser.parse(of.flags);
  return make({});
}

finding checked_run(app_over_ways& app, way& by) {
  app.reset();
  app.run(by);
  in_order calls;
  return app.check(calls);
}

class an_app : public testing::TestWithParam<flags_of_app> {};

TEST_P(an_app, finds_the_known_result_in_each_run_and_is_refused_without_one) {
  const auto each = made(GetParam());
  in_order calls;
  for (int run = 0; run < 2; ++run) {
    const finding found = checked_run(*each, calls);
    EXPECT_EQ(found.wrong, "");
    EXPECT_LE(found.residual, found.bound);
  }
  each->reset();
  const finding none = each->check(calls);
  EXPECT_FALSE(none.residual <= none.bound && none.wrong.empty());
}

INSTANTIATE_TEST_SUITE_P(apps, an_app,
                         testing::Values(flags_of_app{"lulesh", "--size 5"},
                                         flags_of_app{"sssp", "--graph kron10"},
                                         flags_of_app{"hpcg", "--size 16"},
                                         flags_of_app{"leanmd", "--steps 2"}),
                         [](const auto& of) { return of.param.app; });

TEST(lulesh, has_the_same_bits_in_every_order_of_its_tasks) {
  const auto each = made({"lulesh", "--size 5"});
  in_order calls;
  const finding expected = checked_run(*each, calls);
  for (const std::int64_t parts : {1, 2, 5})
    for (unsigned seed = 0; seed < 3; ++seed) {
      in_any_order tasks(parts, seed);
      const finding found = checked_run(*each, tasks);
      EXPECT_EQ(found.wrong, "");
      EXPECT_EQ(found.residual, expected.residual) << parts << " parts, seed " << seed;
      EXPECT_EQ(found.own, expected.own) << parts << " parts, seed " << seed;
    }
}

}  // namespace
}  // namespace teff::apps
