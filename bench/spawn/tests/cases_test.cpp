#include <gtest/gtest.h>

#include <set>

#include "spawn_benchmark.hpp"
#include "teff/spawn/work.hpp"

namespace {

using namespace teff::spawn;

TEST(cases, of_the_spawn_patterns_can_be_run_and_have_names_of_their_own) {
  const spawn_benchmark kind;
  std::set<std::string> names;
  for (const auto& each : kind.cases()) {
    EXPECT_NO_THROW(kind.check(teff::bench::words_of(each.flags), true)) << each.flags;
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
  }
  EXPECT_EQ(names.size(), 4 + known_trees().size());
}

TEST(cases, that_are_run_by_default_are_the_four_patterns_and_the_tree_t3) {
  std::set<std::string> names;
  for (const auto& each : spawn_benchmark().cases())
    if (each.by_default) names.insert(each.name);
  EXPECT_EQ(names, (std::set<std::string>{"serial", "parallel", "fib-both", "fib-one", "tree-T3"}));
}

TEST(cases, have_a_small_run_whose_units_say_how_much_longer_they_are) {
  const spawn_benchmark kind;
  for (const auto& each : kind.cases()) {
    const auto small = each.own.at("small").get<std::string>();
    EXPECT_NO_THROW(kind.check(teff::bench::words_of(small), true)) << small;
    EXPECT_GT(each.own.at("small_times").get<double>(), 32) << small;
  }
  EXPECT_EQ(kind.cases().front().own.at("small_times"), 64);
}

TEST(cases, a_profile_is_no_answer_to_a_line_of_a_batch) {
  const spawn_benchmark kind;
  const teff::bench::flags profile{"-pattern", "serial", "-profile", "1"};
  EXPECT_NO_THROW(kind.check(profile, false));
  EXPECT_ANY_THROW(kind.check(profile, true));
}

}  // namespace
