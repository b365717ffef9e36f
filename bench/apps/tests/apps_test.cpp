#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app_in_tests.hpp"
#include "apps_benchmark.hpp"
#include "teff/apps/kernels.hpp"

namespace teff::apps {
namespace {

/// The flags of the short cases that a single rank runs: of apps on tiles, or of the others.
std::vector<std::string> short_cases(bool on_tiles) {
  std::vector<std::string> found;
  for (const bench::benchmark_case& each : apps_benchmark().cases()) {
    const auto ranks = each.own.value("test_ranks", std::vector<int>());
    const bool is_of_these = parse_work(bench::words_of(each.flags)).what->on_tiles == on_tiles;
    if (is_of_these && std::ranges::find(ranks, 1) != ranks.end()) found.push_back(each.flags);
  }
  if (on_tiles && !kernels::missing().empty()) found.clear();
  return found;
}
/// app_hpccg_grid_10x10x10
std::string name_of_flags(const testing::TestParamInfo<std::string>& of) {
  std::string name;
  for (const std::string& word : bench::words_of(of.param)) name += (name.empty() ? "" : "_") + word;
  std::erase(name, '-');
  return name;
}

class an_app : public testing::TestWithParam<std::string> {};

TEST_P(an_app, finds_the_known_result_in_each_run_and_is_refused_without_one) {
  const auto each = maker_of(GetParam())({});
  in_order calls;
  for (int run = 0; run < 2; ++run) {
    const finding found = result_of(*each, calls);
    EXPECT_EQ(found.wrong, "");
    EXPECT_LE(found.residual, found.bound);
  }
  each->reset();
  const finding none = each->check(calls);
  EXPECT_FALSE(none.residual <= none.bound && none.wrong.empty());
}

TEST_P(an_app, adds_to_the_record_the_keys_that_it_describes) {
  std::set<std::string_view> described;
  for (const description::key& each : parse_work(bench::words_of(GetParam())).what->own)
    described.insert(each.name);
  const finding found = result_of(GetParam());
  std::set<std::string_view> said;
  for (const auto& [key, value] : found.own.items()) said.insert(key);
  EXPECT_EQ(said, described);
}

INSTANTIATE_TEST_SUITE_P(over_ways, an_app, testing::ValuesIn(short_cases(false)), name_of_flags);
INSTANTIATE_TEST_SUITE_P(on_tiles, an_app, testing::ValuesIn(short_cases(true)), name_of_flags);

class an_app_on_tiles : public testing::TestWithParam<std::string> {};

TEST_P(an_app_on_tiles, has_the_same_bits_in_every_order_of_its_tasks) {
  const auto each = maker_of(GetParam())({.workers = 8});
  in_order calls;
  const finding expected = result_of(*each, calls);
  for (unsigned seed = 0; seed < orders; ++seed) {
    in_any_order steps(1, seed);
    EXPECT_EQ(result_of(*each, steps).residual, expected.residual) << "steps, seed " << seed;
    graph_on_threads tasks(1, seed);
    EXPECT_EQ(result_of(*each, tasks).residual, expected.residual) << "graph, seed " << seed;
    EXPECT_FALSE(tasks.waits());
  }
}

INSTANTIATE_TEST_SUITE_P(apps, an_app_on_tiles, testing::ValuesIn(short_cases(true)), name_of_flags);

TEST(all_apps, have_names_of_their_own_as_have_their_cases) {
  std::set<std::string> names;
  for (const bench::benchmark_case& each : apps_benchmark().cases())
    EXPECT_TRUE(names.insert(each.name).second);
  std::set<std::string_view> apps;
  for (const description& each : all_apps()) EXPECT_TRUE(apps.insert(each.name).second);
}

TEST(all_apps, have_a_short_case_that_tests_run) {
  for (const description& each : all_apps())
    EXPECT_TRUE(std::ranges::any_of(each.cases, [](const auto& one) { return !one.test_ranks.empty(); }))
        << each.name;
}

TEST(all_apps, say_in_the_help_what_their_keys_mean) {
  const std::string help = work_help();
  for (const description& app : all_apps())
    for (const description::key& each : app.own)
      EXPECT_NE(help.find("own." + std::string(each.name)), std::string::npos)
          << app.name << ", " << each.name;
}

}  // namespace
}  // namespace teff::apps
