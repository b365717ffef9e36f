#include <gtest/gtest.h>

#include "task_graph_benchmark.hpp"

namespace teff::graphs {
namespace {

TEST(cases, of_task_graphs_are_the_patterns_and_can_be_run) {
  const task_graph_benchmark kind;
  const auto cases = kind.cases();
  ASSERT_EQ(cases.size(), patterns().size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(cases[i].name, patterns()[i].name);
    // spread's usual period does not fit the usual width of 4.
    EXPECT_NO_THROW(kind.check(bench::words_of(cases[i].flags + " -width 16"), true)) << cases[i].flags;
  }
}

TEST(cases, that_are_run_by_default_are_the_stencil) {
  for (const auto& each : task_graph_benchmark().cases())
    EXPECT_EQ(each.by_default, each.name == "stencil_1d") << each.name;
}

TEST(cases, a_report_is_no_answer_to_a_line_of_a_batch) {
  const task_graph_benchmark kind;
  for (const char* flag : {"--report", "-v", "-vv"}) {
    EXPECT_NO_THROW(kind.check({flag}, false)) << flag;
    EXPECT_THROW(kind.check({flag}, true), bench::usage_error) << flag;
  }
}

}  // namespace
}  // namespace teff::graphs
