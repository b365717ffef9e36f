// The results of the programs, compared with other ways to compute them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <set>
#include <vector>

#include "teff/programs/catalogue.hpp"
#include "teff/programs/in_order.hpp"

namespace teff::programs {
namespace {

template <class Program>
Program after_run(std::int64_t size) {
  Program program(size);
  in_order one_thread;
  program.run(one_thread);
  return program;
}

TEST(nqueens, counts_the_known_solutions) {
  EXPECT_EQ(after_run<nqueens>(6).checksum(), 4U);
  EXPECT_EQ(after_run<nqueens>(8).checksum(), 92U);
}

TEST(knapsack, finds_the_best_of_all_choices) {
  const auto found = after_run<knapsack>(12);
  std::int64_t best = 0;
  for (unsigned choice = 0; choice < 1U << found.items().size(); ++choice) {
    std::int64_t value = 0;
    std::int64_t weight = 0;
    for (std::size_t i = 0; i < found.items().size(); ++i)
      if ((choice >> i & 1U) != 0) {
        value += found.items()[i].value;
        weight += found.items()[i].weight;
      }
    if (weight <= found.capacity()) best = std::max(best, value);
  }
  EXPECT_EQ(found.best(), best);
}

TEST(floorplan, finds_a_floor_that_is_large_enough_and_no_larger_than_a_greedy_one) {
  for (const std::int64_t rooms : {1, 3, 5}) {
    const auto found = after_run<floorplan>(rooms);
    EXPECT_GE(found.area(), found.least_area());
    EXPECT_LE(found.area(), found.greedy_area());
  }
  const auto alone = after_run<floorplan>(1);
  EXPECT_EQ(alone.area(), alone.least_area());
}

TEST(health, loses_nobody) {
  const auto simulated = after_run<health>(100);
  EXPECT_GT(simulated.fell_ill(), 0);
  EXPECT_EQ(simulated.accounted_for(), simulated.fell_ill());
}

TEST(skynet, sums_up_the_numbers_of_its_leaves) {
  EXPECT_EQ(after_run<skynet>(1000).checksum(), 999U * 1000 / 2);
}

TEST(sort, sorts) {
  const auto sorted = after_run<sort>(10'000);
  std::vector<std::int32_t> keys;
  for (std::int64_t i = 0; i < 10'000; ++i)
    keys.push_back(static_cast<std::int32_t>(mixed(static_cast<std::uint64_t>(i))));
  std::ranges::sort(keys);
  EXPECT_TRUE(std::ranges::equal(sorted.keys(), keys));
}

TEST(fft, is_the_fourier_transform) {
  constexpr std::int64_t points = 2048;
  const auto transformed = after_run<fft>(points);
  for (const std::int64_t frequency : {0, 1, 7, 1024, 2047}) {
    complex expected = 0;
    for (std::int64_t i = 0; i < points; ++i)
      expected += fft::input(i) *
                  std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(frequency * i % points) /
                                      static_cast<double>(points));
    EXPECT_NEAR(std::abs(transformed.points()[frequency] - expected), 0, 1e-9) << frequency;
  }
}

TEST(strassen, is_the_product) {
  constexpr std::int64_t rows = 128;
  const auto multiplied = after_run<strassen>(rows);
  for (std::int64_t i = 0; i < rows; i += 5)
    for (std::int64_t j = 0; j < rows; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < rows; ++k)
        sum += multiplied.a()[i * rows + k] * multiplied.b()[k * rows + j];
      EXPECT_NEAR(multiplied.product()[i * rows + j], sum, 1e-10);
    }
}

/// An element of L * U; `at` gives the elements of both.
double lower_times_upper(std::int64_t i, std::int64_t j, const auto& at) {
  double sum = 0;
  for (std::int64_t k = 0; k <= std::min(i, j); ++k) sum += (k == i ? 1.0 : at(i, k)) * at(k, j);
  return sum;
}

TEST(sparselu, decomposes_its_input) {
  constexpr std::int64_t blocks = 5;
  const auto element = [](const sparselu& of, std::int64_t i, std::int64_t j) {
    const buffer<double>& block = of.block(i / lu_block, j / lu_block);
    return block ? block[i % lu_block * lu_block + j % lu_block] : 0.0;
  };
  const sparselu input(blocks);
  const auto found = after_run<sparselu>(blocks);
  for (std::int64_t i = 0; i < blocks * lu_block; i += 3)
    for (std::int64_t j = 0; j < blocks * lu_block; j += 2)
      EXPECT_NEAR(
          lower_times_upper(i, j, [&](std::int64_t a, std::int64_t b) { return element(found, a, b); }),
          element(input, i, j), 1e-9);
}

TEST(lu, decomposes_its_input) {
  const auto found = after_run<lu>(4);
  for (std::int64_t i = 0; i < found.rows(); i += 3)
    for (std::int64_t j = 0; j < found.rows(); j += 2)
      EXPECT_NEAR(lower_times_upper(i, j, [&](std::int64_t a, std::int64_t b) { return found.at(a, b); }),
                  found.given(i, j), 1e-9);
}

TEST(cholesky, decomposes_its_input) {
  const auto found = after_run<cholesky>(3);
  for (std::int64_t i = 0; i < found.rows(); i += 3)
    for (std::int64_t j = 0; j <= i; j += 2) {
      double sum = 0;
      for (std::int64_t k = 0; k <= j; ++k) sum += found.at(i, k) * found.at(j, k);
      EXPECT_NEAR(sum, found.given(i, j), 1e-9);
    }
}

TEST(alignment, scores_known_pairs) {
  const std::vector<std::uint8_t> a{1, 2, 3, 0};
  const std::vector<std::uint8_t> b{0, 1, 2, 0, 3};
  EXPECT_EQ(alignment_score(a.data(), 4, a.data(), 4), 8);
  EXPECT_EQ(alignment_score(a.data(), 4, b.data(), 5), 5);  // three matches and a gap
}

TEST(histogram, counts_all_keys) {
  const auto found = after_run<histogram>(5000);
  for (std::int64_t bin = 0; bin < found.counts().size(); ++bin)
    EXPECT_EQ(found.counts()[bin], std::ranges::count(found.keys(), bin));
}

TEST(bfs, gives_each_vertex_one_more_than_the_nearest_that_leads_to_it) {
  constexpr std::int64_t vertices = 500;
  const auto found = after_run<bfs>(vertices);
  std::vector<std::int32_t> nearest(vertices, unreached);
  for (std::int64_t from = 0; from < vertices; ++from) {
    if (found.distance(from) == unreached) continue;
    for (std::int64_t i = 0; i < degree; ++i) {
      std::int32_t& to = nearest[static_cast<std::size_t>(found.links_of(from)[i])];
      if (to == unreached || found.distance(from) < to) to = found.distance(from);
    }
  }
  EXPECT_EQ(found.distance(0), 0);
  for (std::int64_t i = 1; i < vertices; ++i) {
    const std::int32_t before = nearest[static_cast<std::size_t>(i)];
    EXPECT_EQ(found.distance(i), before == unreached ? unreached : before + 1) << i;
  }
}

TEST(black_scholes, has_the_known_value) {
  const double value = call_value({.price = 100, .strike = 100, .rate = 0.05, .volatility = 0.2, .years = 1});
  EXPECT_NEAR(value, 10.4506, 1e-4);
}

/// Edges lead to later tasks, both functions say the same ones, and indegrees count them.
template <class Graph>
void expect_sound(const Graph& graph) {
  std::set<std::pair<std::int64_t, std::int64_t>> to_later;
  std::set<std::pair<std::int64_t, std::int64_t>> from_earlier;
  for (std::int64_t task = 0; task < graph.tasks(); ++task) {
    graph.successors(task, [&](std::int64_t next) {
      EXPECT_GT(next, task);
      EXPECT_TRUE(to_later.emplace(task, next).second);
    });
    int count = 0;
    graph.predecessors(task, [&](std::int64_t before) {
      from_earlier.emplace(before, task);
      ++count;
    });
    EXPECT_EQ(graph.indegree(task), count);
    EXPECT_LE(count, most_predecessors);
  }
  EXPECT_EQ(to_later, from_earlier);
}

TEST(graphs, are_sound) {
  expect_sound(cholesky(5));
  expect_sound(lu(5));
  expect_sound(wavefront(7));
  expect_sound(random_dag(2000));
  expect_sound(chain(10));
  expect_sound(small_graphs::diamond(nullptr));
}

}  // namespace
}  // namespace teff::programs
