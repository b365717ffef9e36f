#include <gtest/gtest.h>

#include "teff/graphs/configuration.hpp"
#include "teff/graphs/extent.hpp"

namespace teff::graphs {
namespace {

std::string refusal(const std::string& line) {
  try {
    static_cast<void>(parse_configuration(line));
  } catch (const bench::usage_error& failure) {
    return failure.what();
  }
  return "accepted";
}

TEST(flags, have_the_published_defaults) {
  const task_graph graph = parse_configuration("").graphs.at(0);
  EXPECT_EQ(graph.steps, 4);
  EXPECT_EQ(graph.width, 4);
  EXPECT_EQ(graph.pattern->name, "trivial");
  EXPECT_EQ(graph.kernel.samples, 16);
  EXPECT_EQ(graph.output_bytes, 16);
}

TEST(flags, are_taken_with_one_dash_and_with_two) {
  const configuration work = parse_configuration(
      "-steps 9 --width=3 -type fft --kernel compute_bound -iter 7 -and -type spread -width 9");
  ASSERT_EQ(work.graphs.size(), 2U);
  EXPECT_EQ(work.graphs[0].steps, 9);
  EXPECT_EQ(work.graphs[0].width, 3);
  EXPECT_EQ(work.graphs[0].kernel.iterations, 7);
  EXPECT_EQ(work.graphs[1].steps, 4);
  EXPECT_EQ(work.graphs[1].index, 1);
  EXPECT_EQ(work.graphs[1].period, 3);
}

TEST(flags, that_are_wrong_are_refused_in_one_line_that_quotes_them) {
  for (const std::string line :
       {"-steps -1", "-steps x", "-steps", "-stepz 3", "-type stensil", "-imbalance 3", "-width 0",
        "-output 8", "steps 4", "-type spread -width 4 -radix 9", "-type stencil_1d -period 3", "-iter 1e3",
        "--", "-steps 99999999999999999999", "--batch"}) {
    const std::string reason = refusal(line);
    EXPECT_NE(reason, "accepted") << line;
    EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
  }
  EXPECT_EQ(refusal("-steps -1"), "-steps: '-1' is not a whole number from 1 up; for example -steps 1000");
  EXPECT_EQ(refusal("-width 99999999999999999999"),
            "-width: '99999999999999999999' is not a whole number from 1 to 9223372036854775807; for example "
            "-width 4");
  EXPECT_EQ(refusal("-type fft -type dom"), "-type: it is given more than once; give it once");
}

constexpr double gigabytes = 1e9;

TEST(graphs_of_any_size, are_refused_in_one_line_where_they_need_more_memory_than_there_is) {
  EXPECT_EQ(beyond_reach(parse_configuration("-width 1000 -steps 1000000"), 8 * gigabytes), "");
  EXPECT_EQ(beyond_reach(parse_configuration("-width 2000000000"), 24 * gigabytes),
            "-width 2000000000: the graph takes at least 160 GB of memory, and there are 24 GB; give less");
  EXPECT_TRUE(beyond_reach(parse_configuration("-width 4 -output 10000000000"), 24 * gigabytes)
                  .starts_with("-output 10000000000: "));
  EXPECT_TRUE(beyond_reach(parse_configuration("-scratch 100000000000"), 24 * gigabytes)
                  .starts_with("-scratch 100000000000: "));
  EXPECT_NE(
      beyond_reach(parse_configuration("-steps 1 -width 300000000 -and -width 300000000"), 24 * gigabytes),
      "");
  EXPECT_TRUE(beyond_reach(parse_configuration("-steps 9000000000000000000"), 24 * gigabytes)
                  .starts_with("-steps 9000000000000000000 -width 4: a graph has at most 10^15 tasks"));
}

TEST(graphs_of_any_size, are_said_to_take_long_where_they_surely_do) {
  EXPECT_EQ(long_run(parse_configuration("-steps 1000000 -width 4"), 2), "");
  EXPECT_EQ(long_run(parse_configuration("-steps 1000000000000 -width 4"), 2),
            "4e+12 tasks take at least 6 hours on 2 cores; Ctrl-C ends the run");
  EXPECT_NE(long_run(parse_configuration("-steps 1000 -kernel compute_bound -iter 10000000000"), 2), "");
}

}  // namespace
}  // namespace teff::graphs
