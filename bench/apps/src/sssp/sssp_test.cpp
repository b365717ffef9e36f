#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "app_in_tests.hpp"
#include "sssp/answer.hpp"
#include "sssp/delta_stepping.hpp"
#include "sssp/generate.hpp"
#include "sssp/known.hpp"
#include "teff/bench/failure.hpp"

namespace teff::apps::sssp {
namespace {

std::int64_t wrong_distances(const problem& p) {
  return wrong_distances(p, 0, p.of.vertices());
}

void find_in_order(problem& p) {
  in_order calls;
  solve(p, calls);
}

class sssp_of : public testing::TestWithParam<known> {};

TEST_P(sssp_of, a_known_graph_is_the_known_answer) {
  const known& expected = GetParam();
  const graph of = named(expected.name);
  EXPECT_EQ(of.vertices(), expected.vertices);
  EXPECT_EQ(of.edges(), expected.edges);
  EXPECT_EQ(source(of), expected.source);
  problem p(of, source(of), 4);
  find_in_order(p);
  EXPECT_EQ(read_answer(p), expected.found);
  EXPECT_EQ(wrong_distances(p), 0);
}

// Without the last, which takes seconds: a program that runs it compares its answer.
INSTANTIATE_TEST_SUITE_P(sssp, sssp_of, testing::ValuesIn(std::begin(all_known), std::end(all_known) - 1),
                         [](const auto& of) { return std::string(of.param.name); });

TEST(sssp, finds_the_same_distances_with_any_delta_in_chunks_on_threads) {
  for (const char* const name : {"kron10", "uniform12"}) {
    const graph of = named(name);
    problem expected(of, source(of), 4);
    find_in_order(expected);
    for (const distance delta : {1, 4, 50, 10'000})
      for (const std::int64_t chunk : {1, 7, 64}) {
        problem p(of, source(of), delta);
        for (int run = 0; run < 2; ++run) {
          in_chunks chunks(chunk);
          solve(p, chunks);
          EXPECT_EQ(p.distances, expected.distances) << name << ", delta " << delta << ", chunk " << chunk;
        }
      }
  }
}

TEST(sssp, finds_the_same_distances_in_every_order_of_tasks_that_make_tasks) {
  const graph of = named("uniform10");
  problem expected(of, source(of), 4);
  find_in_order(expected);
  for (const distance delta : {1, 4, 10'000})
    for (unsigned seed = 0; seed < orders; ++seed) {
      in_any_order tasks(1, seed);
      problem p(of, source(of), delta);
      for (int run = 0; run < 2; ++run) {
        solve(p, tasks);
        EXPECT_EQ(p.distances, expected.distances) << "delta " << delta << ", seed " << seed;
      }
    }
}

TEST(sssp, finds_the_same_distances_in_any_number_of_parts_whose_tasks_run_on_threads) {
  for (const char* const name : {"kron10", "uniform10"}) {
    const graph of = named(name);
    problem expected(of, source(of), 4);
    find_in_order(expected);
    for (const distance delta : {4, 10'000}) {
      problem p(of, source(of), delta);
      for (const std::int64_t parts : {1, 3, 16, 16, 64}) {
        graph_on_threads tasks(parts, static_cast<unsigned>(parts));
        solve(p, tasks);
        EXPECT_FALSE(tasks.waits());
        EXPECT_EQ(p.distances, expected.distances)
            << name << ", delta " << delta << ", " << parts << " parts";
      }
    }
  }
}

TEST(sssp, with_one_distance_changed_is_wrong) {
  const graph of = kronecker(10);
  problem p(of, source(of), 4);
  find_in_order(p);
  for (vertex at = 0; at < of.vertices(); at += 31) {
    const distance right = p.distances[std::size_t(at)];
    if (right == unreached) continue;
    for (const distance wrong : {right - 1, right + 1, unreached}) {
      p.distances[std::size_t(at)] = wrong;
      EXPECT_GT(wrong_distances(p), 0) << "vertex " << at << " at " << wrong << ", not " << right;
    }
    p.distances[std::size_t(at)] = right;
  }
}

TEST(sssp, of_a_part_that_floats_free_of_the_source_is_wrong) {
  const graph of(5, std::vector<listed_edge>{{0, 1, 3}, {2, 3, 1}, {3, 4, 1}});
  problem p(of, 0, 4);
  find_in_order(p);
  EXPECT_EQ(p.distances, (huge_vector<distance>{0, 3, unreached, unreached, unreached}));
  p.distances = {0, 3, 5, 6, 7};
  EXPECT_GT(wrong_distances(p), 0);
}

TEST(graph, has_each_edge_from_both_sides_once_and_the_shortest_of_parallel_ones) {
  const graph of(3, std::vector<listed_edge>{{0, 1, 5}, {1, 0, 2}, {1, 1, 1}, {2, 1, 9}, {0, 1, 7}});
  using edges = std::vector<graph::edge>;
  const auto edges_of = [&](vertex from) {
    const auto found = of.edges_of(from);
    return edges(found.begin(), found.end());
  };
  EXPECT_EQ(of.edges(), 2);
  EXPECT_EQ(edges_of(0), (edges{{1, 2}}));
  EXPECT_EQ(edges_of(1), (edges{{0, 2}, {2, 9}}));
  EXPECT_EQ(edges_of(2), (edges{{1, 9}}));
}

TEST(graph, that_has_no_such_name_is_refused_with_the_names_that_there_are) {
  for (const char* const name : {"", "kron", "kron0", "kron27", "kron1x", "uniform-4", "road20"}) try {
      static_cast<void>(named(name));
      ADD_FAILURE() << name;
    } catch (const bench::usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("kron14"), std::string::npos) << error.what();
    }
}

TEST(sssp, says_the_known_answer) {
  const finding found = result_of("-app sssp -graph kron10");
  EXPECT_EQ(found.own, (bench::json{{"reached", 896}, {"sum", 62793}, {"max", 306}}));
}

}  // namespace
}  // namespace teff::apps::sssp
