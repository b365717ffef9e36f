#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app_in_tests.hpp"
#include "hpcg/checks.hpp"
#include "hpcg/domain.hpp"
#include "hpcg/known.hpp"
#include "hpcg/matrix.hpp"
#include "hpcg/problem.hpp"
#include "hpcg/solve.hpp"
#include "teff/bench/failure.hpp"
#include "ways_over_threads.hpp"

namespace teff::apps::hpcg {
namespace {

constexpr std::int64_t one_tile = std::int64_t{1} << 40;  // the rows one after the other

domain cube(int side) {
  return domain_of({side, side, side});
}

class hpcg_of : public testing::TestWithParam<known> {};

TEST_P(hpcg_of, a_known_cube_reaches_the_known_residual) {
  const known& expected = GetParam();
  in_order loops;
  problem of(cube(expected.side));
  EXPECT_EQ(of.finest().a.nonzeros(), expected.nonzeros);
  const outcome found = solution(of, loops).solve();
  EXPECT_EQ(found.iterations, 50);
  EXPECT_NEAR(found.scaled_residual / expected.residual, 1, 1e-5) << found.scaled_residual;
}

// Without the last, which takes seconds: a program that runs it compares its answer.
INSTANTIATE_TEST_SUITE_P(hpcg, hpcg_of, testing::ValuesIn(std::begin(all_known), std::end(all_known) - 1),
                         [](const auto& of) { return "side_" + std::to_string(of.param.side); });

TEST(hpcg, of_tiles_on_threads_is_that_of_rows_bit_by_bit) {
  for (const box& points : {box{16, 16, 16}, box{8, 16, 24}, box{24, 8, 16}})
    for (const std::int64_t rows_of_tile : {1, 100, 512}) {
      in_order one;
      in_chunks some(1);
      problem rows(domain_of(points), one_tile);
      problem tiles(domain_of(points), rows_of_tile);
      EXPECT_EQ(rows.finest().order.sets.size(), 2U);
      EXPECT_GT(tiles.finest().order.sets.size(), 3U);
      for (problem* each : {&rows, &tiles}) each->finest().r = each->b;
      solution(rows, one).precondition();
      solution(tiles, some).precondition();
      EXPECT_EQ(rows.finest().x, tiles.finest().x) << rows_of_tile;
    }
}

TEST(hpcg, has_the_same_bits_in_every_order_of_its_tasks) {
  const domain all = domain_of({8, 16, 8});
  constexpr limits until{.iterations = 2};
  in_order one;
  problem expected(all, one_tile);
  static_cast<void>(solution(expected, one).solve(until));
  for (const std::int64_t rows_of_tile : {32, 128})
    for (const std::int64_t parts : {1, 3})
      for (unsigned seed = 0; seed < orders; ++seed) {
        in_any_order tasks(parts, seed);
        problem of(all, rows_of_tile);
        static_cast<void>(solution(of, tasks).solve(until));
        EXPECT_EQ(of.x, expected.x) << rows_of_tile << " rows, " << parts << " parts, seed " << seed;
      }
}

/// A rank's part of a matrix, and of a vector.
struct part {
  explicit part(const domain& of) : where(of), a(twenty_seven_points(of)), around(halo_of(of)) {}
  domain where;
  matrix a;
  halo around;
  std::vector<double> x;
};

/// The elements that the messages of all ranks bring to a rank.
void bring_ghosts(std::vector<part>& all, std::size_t to) {
  for (const halo::message& in : all[to].around.messages) {
    const part& other = all[std::size_t(in.rank)];
    const auto out = std::ranges::find(other.around.messages, static_cast<int>(to), &halo::message::rank);
    ASSERT_EQ(out->elements.size(), in.elements.size());
    for (std::int64_t i = out->elements.begin; i < out->elements.end; ++i)
      all[to].x.push_back(other.x[std::size_t(other.around.sent[std::size_t(i)])]);
  }
}

TEST(hpcg, of_ranks_multiplies_with_the_bits_of_one_rank) {
  for (const auto& [side, ranks] : {std::pair{16, 2}, std::pair{16, 4}, std::pair{24, 27}}) {
    const matrix whole = twenty_seven_points(cube(side));
    std::vector<double> x;
    for (std::int32_t row = 0; row < whole.rows(); ++row) x.push_back(1.0 / (row + 1));
    std::vector<part> all;
    for (int rank = 0; rank < ranks; ++rank) {
      part& here = all.emplace_back(domain_of({side, side, side}, rank, ranks));
      EXPECT_EQ(here.where.rank(), rank);
      for (std::int32_t row = 0; row < here.a.rows(); ++row)
        here.x.push_back(x[std::size_t(here.where.row_of_all(row))]);
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      bring_ghosts(all, rank);
      const part& here = all[rank];
      for (std::int32_t row = 0; row < here.a.rows(); ++row)
        ASSERT_EQ(here.a.product(row, here.x.data()), whole.product(here.where.row_of_all(row), x.data()))
            << rank << " of " << ranks << " ranks, row " << row;
    }
  }
}

TEST(hpcg, knows_the_rows_that_read_ghosts) {
  for (int rank = 0; rank < 27; ++rank) {
    const part here(domain_of({24, 24, 24}, rank, 27));
    const std::int32_t rows = here.a.rows();
    const auto ghost_of = [&](std::int32_t entry) { return here.a.columns[std::size_t(entry)] - rows; };
    for (const halo::message& each : here.around.messages)
      for (std::int32_t row = 0; row < rows; ++row)
        for (std::int32_t i = here.a.first[std::size_t(row)]; i < here.a.first[std::size_t(row) + 1]; ++i)
          EXPECT_TRUE(ghost_of(i) < each.elements.begin || ghost_of(i) >= each.elements.end ||
                      (each.readers.begin <= row && row < each.readers.end))
              << "rank " << rank << ", row " << row;
  }
}

/// The solutions of eight ranks, which are threads, after two iterations.
std::vector<std::vector<double>> solutions_over_threads(std::int64_t parts, unsigned seed) {
  constexpr int ranks = 8;
  mail between;
  std::vector<std::vector<double>> found(ranks);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      problem of(domain_of({16, 16, 16}, rank, ranks), 64);
      rank_in_any_order tasks({rank, ranks}, between, parts, seed + static_cast<unsigned>(rank));
      static_cast<void>(solution(of, tasks).solve({.iterations = 2}));
      found[std::size_t(rank)] = of.x;
    });
  threads.clear();  // joins
  return found;
}

TEST(hpcg, has_the_same_bits_over_ranks_in_every_order_of_their_tasks_and_messages) {
  const auto expected = solutions_over_threads(1, 0);
  for (unsigned seed = 1; seed <= orders; ++seed)
    EXPECT_EQ(solutions_over_threads(3, seed), expected) << seed;
}

TEST(hpcg, solves_the_system_on_threads) {
  in_chunks loops(1);
  for (const domain& all : {cube(16), domain_of({8, 16, 24})}) {
    problem of(all);
    const outcome found = solution(of, loops).solve({.iterations = 200, .tolerance = 1e-12});
    EXPECT_LT(found.iterations, 50);
    EXPECT_LE(found.scaled_residual, 1e-12);
    EXPECT_LE(recomputed_residual(of, loops), 1e-11);
    for (const double each : of.x) EXPECT_NEAR(each, 1, 1e-9);
  }
}

TEST(hpcg, is_symmetric_in_its_operator_and_its_preconditioner) {
  in_chunks loops(1);
  for (const domain& all : {cube(16), domain_of({8, 16, 24})}) {
    problem of(all);
    EXPECT_LE(asymmetry_of_operator(of, loops), 1);
    EXPECT_LE(asymmetry_of_preconditioner(of, loops), 1);
  }
}

TEST(hpcg, with_one_entry_changed_is_asymmetric) {
  in_order loops;
  problem of(cube(16));
  of.finest().a.values[1] *= 1 + 1e-6;
  EXPECT_GT(asymmetry_of_operator(of, loops), 1);
  EXPECT_GT(asymmetry_of_preconditioner(of, loops), 1);
}

TEST(hpcg, with_a_large_diagonal_converges_at_once_and_is_itself_again) {
  in_order loops;
  for (const int side : {16, 32}) {
    problem of(cube(side));
    const auto values = of.finest().a.values;
    const std::vector<double> b = of.b;
    EXPECT_EQ(iterations_with_large_diagonal(of, loops, false), 11);
    EXPECT_LE(iterations_with_large_diagonal(of, loops, true), 2);
    EXPECT_EQ(of.finest().a.values, values);
    EXPECT_EQ(of.b, b);
  }
}

TEST(hpcg, of_a_box_that_four_grids_do_not_divide_is_refused) {
  for (const box& points : {box{16, 16, 12}, box{4, 16, 16}, box{0, 16, 16}}) try {
      static_cast<void>(domain_of(points));
      ADD_FAILURE();
    } catch (const bench::usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("multiple of 8"), std::string::npos) << error.what();
    }
}

TEST(hpcg, says_the_known_residual) {
  EXPECT_NEAR(result_of("-app hpcg -size 16").own["scaled_residual"].get<double>() / 3.66234e-41, 1, 1e-5);
}

TEST(hpcg, passes_its_checks_over_ranks) {
  const finding found = found_over_threads(2, maker_of("-app hpcg -size 16"), 3, 1);
  EXPECT_EQ(found.wrong, "");
  EXPECT_LE(found.residual, found.bound);
}

TEST(hpcg, refuses_ranks_whose_parts_four_grids_do_not_divide) {
  EXPECT_THROW(static_cast<void>(maker_of("-app hpcg -size 24")({0, 2})), bench::usage_error);
  EXPECT_THROW(static_cast<void>(maker_of("-app hpcg -size 16")({0, 3})), bench::usage_error);
}

}  // namespace
}  // namespace teff::apps::hpcg
