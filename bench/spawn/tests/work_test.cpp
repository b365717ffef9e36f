#include "teff/spawn/work.hpp"

#include <gtest/gtest.h>

#include "teff/bench/failure.hpp"

namespace {

using namespace teff::spawn;

TEST(work, defaults_are_the_published_sizes) {
  EXPECT_EQ(parse_work("--pattern serial").tasks, 1 << 20);
  EXPECT_EQ(parse_work("--pattern fibonacci").n, 30);
  EXPECT_EQ(parse_work("--pattern tree").tree.name, "T3");
}

TEST(work, units_are_null_tasks_calls_and_nodes) {
  const work fib = parse_work("--pattern fibonacci --n 30 --spawn one");
  EXPECT_EQ(expected(fib).fibonacci, 832040);
  EXPECT_EQ(units(fib, expected(fib)), 2692537);
  const work serial = parse_work("--pattern serial --tasks 10");
  EXPECT_EQ(units(serial, expected(serial)), 10);
  EXPECT_EQ(expected(serial).null_tasks.index_sum, 45);
  const work tree = parse_work("--pattern tree --tree T1");
  EXPECT_EQ(units(tree, expected(tree)), 4130071);
}

TEST(work, another_depth_drops_the_published_counts_and_computes_them) {
  const work small = parse_work("--pattern tree --tree T1 --depth 4");
  EXPECT_FALSE(small.tree.published);
  EXPECT_EQ(expected(small).tree, search(small.tree, small.tree.root()));
}

TEST(work, wrong_flags_are_named) {
  const auto message = [](const char* line) -> std::string {
    try {
      static_cast<void>(parse_work(line));
    } catch (const teff::bench::usage_error& wrong) {
      return wrong.what();
    }
    return "nothing";
  };
  EXPECT_NE(message("--pattern tree --tree T9").find("'T9'"), std::string::npos);
  EXPECT_NE(message("--pattern tree --tree T3 --depth 4").find("binomial"), std::string::npos);
  EXPECT_NE(message("--pattern sireal").find("sireal"), std::string::npos);
  EXPECT_NE(message("--tasks 4").find("--pattern: serial, parallel"), std::string::npos);
  EXPECT_NE(message("--pattern fibonacci --n 91").find("91"), std::string::npos);
}

}  // namespace
