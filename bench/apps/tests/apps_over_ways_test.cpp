#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>

#include "teff/apps/app.hpp"
#include "teff/bench/failure.hpp"
#include "ways_in_tests.hpp"
#include "ways_over_threads.hpp"

namespace teff::apps {
namespace {

struct flags_of_app {
  std::string app;
  std::string flags;

  friend void PrintTo(const flags_of_app& of, std::ostream* to) { *to << of.app << ' ' << of.flags; }
};

description::maker maker_of(const flags_of_app& of) {
  const auto apps = apps_over_ways();
  const auto what = std::ranges::find(apps, of.app, &description::name);
  CLI::App parser;
  description::maker make = what->flags(parser);
  parser.parse(of.flags);
  return make;
}
std::unique_ptr<app_over_ways> made(const flags_of_app& of) {
  return maker_of(of)({});
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
    for (unsigned seed = 0; seed < orders; ++seed) {
      in_any_order tasks(parts, seed);
      const finding found = checked_run(*each, tasks);
      EXPECT_EQ(found.wrong, "");
      EXPECT_EQ(found.residual, expected.residual) << parts << " parts, seed " << seed;
      EXPECT_EQ(found.own, expected.own) << parts << " parts, seed " << seed;
    }
}

TEST(lulesh, has_the_same_bits_over_ranks_in_every_order_of_their_tasks_and_messages) {
  const description::maker make = maker_of({"lulesh", "--size 4"});
  in_order calls;
  const finding expected = checked_run(*make({}), calls);
  for (const std::int64_t parts : {1, 3})
    for (unsigned seed = 0; seed < orders; ++seed) {
      const finding found = found_over_threads(8, make, parts, seed);
      EXPECT_EQ(found.wrong, "");
      EXPECT_EQ(found.residual, expected.residual) << parts << " parts, seed " << seed;
      EXPECT_EQ(found.own, expected.own) << parts << " parts, seed " << seed;
    }
}

TEST(lulesh, refuses_ranks_that_can_not_share_its_cube_equally_and_says_how_to_start_others) {
  try {
    static_cast<void>(maker_of({"lulesh", "--size 10"})({0, 2}));
    ADD_FAILURE();
  } catch (const bench::usage_error& error) {
    for (const char* const part : {"-size 10", "2 ranks", "--ranks 8", "--workers 1"})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << ": " << error.what();
  }
  EXPECT_THROW(static_cast<void>(maker_of({"lulesh", "--size 5"})({0, 8})), bench::usage_error);
}

TEST(hpccg, has_the_known_residuals_over_ranks_in_every_order_of_their_tasks_and_messages) {
  const description::maker make = maker_of({"hpccg", "--grid 5x6x7"});
  for (const int ranks : {2, 4})
    for (const std::int64_t parts : {1, 3})
      for (unsigned seed = 0; seed < orders; ++seed) {
        const finding found = found_over_threads(ranks, make, parts, seed);
        EXPECT_EQ(found.wrong, "") << ranks << " ranks, " << parts << " parts, seed " << seed;
        EXPECT_LE(found.residual, found.bound) << ranks << " ranks, " << parts << " parts, seed " << seed;
      }
}

TEST(hpcg, passes_its_checks_over_ranks) {
  const finding found = found_over_threads(2, maker_of({"hpcg", "--size 16"}), 3, 1);
  EXPECT_EQ(found.wrong, "");
  EXPECT_LE(found.residual, found.bound);
}

TEST(hpcg, refuses_ranks_whose_parts_four_grids_do_not_divide) {
  EXPECT_THROW(static_cast<void>(maker_of({"hpcg", "--size 24"})({0, 2})), bench::usage_error);
  EXPECT_THROW(static_cast<void>(maker_of({"hpcg", "--size 16"})({0, 3})), bench::usage_error);
}

}  // namespace
}  // namespace teff::apps
