#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "hpcg/checks.hpp"
#include "hpcg/known.hpp"
#include "hpcg/problem.hpp"
#include "hpcg/solve.hpp"
#include "teff/bench/failure.hpp"
#include "ways_in_tests.hpp"

namespace teff::apps::hpcg {
namespace {

constexpr sweep all_sweeps[] = {sweep::rows, sweep::wavefronts};

box cube(int side) {
  return {side, side, side};
}

class hpcg_of : public testing::TestWithParam<known> {};

TEST_P(hpcg_of, a_known_cube_reaches_the_known_residual) {
  const known& expected = GetParam();
  in_order loops;
  problem of(cube(expected.side), sweep::rows);
  EXPECT_EQ(of.finest().a.nonzeros(), expected.nonzeros);
  const outcome found = solution(of, loops).solve();
  EXPECT_EQ(found.iterations, 50);
  EXPECT_NEAR(found.scaled_residual / expected.residual, 1, 1e-5) << found.scaled_residual;
}

INSTANTIATE_TEST_SUITE_P(hpcg, hpcg_of, testing::ValuesIn(all_known),
                         [](const auto& of) { return "side_" + std::to_string(of.param.side); });

TEST(hpcg, of_wavefronts_on_threads_is_that_of_rows_bit_by_bit) {
  for (const box& points : {cube(16), box{8, 16, 24}, box{24, 8, 16}}) {
    in_order one;
    in_chunks some(3);
    problem rows(points, sweep::rows);
    problem waves(points, sweep::wavefronts);
    for (problem* each : {&rows, &waves}) each->finest().r = each->b;
    solution(rows, one).precondition();
    solution(waves, some).precondition();
    EXPECT_EQ(rows.finest().x, waves.finest().x);
    EXPECT_EQ(solution(rows, one).solve().scaled_residual, solution(waves, some).solve().scaled_residual);
  }
}

TEST(hpcg, has_the_same_bits_in_every_order_of_its_tasks) {
  const box points{8, 16, 8};
  constexpr limits until{.iterations = 2};
  in_order one;
  problem expected(points, sweep::rows);
  static_cast<void>(solution(expected, one).solve(until));
  for (const std::int64_t parts : {1, 3})
    for (unsigned seed = 0; seed < 2; ++seed) {
      in_any_order tasks(parts, seed);
      problem of(points, sweep::wavefronts);
      static_cast<void>(solution(of, tasks).solve(until));
      EXPECT_EQ(of.x, expected.x) << parts << " parts, seed " << seed;
    }
}

TEST(hpcg, solves_the_system_with_any_sweep_on_threads) {
  in_chunks loops(2);
  for (const sweep how : all_sweeps)
    for (const box& points : {cube(16), box{8, 16, 24}}) {
      problem of(points, how);
      const outcome found = solution(of, loops).solve({.iterations = 200, .tolerance = 1e-12});
      EXPECT_LT(found.iterations, 50);
      EXPECT_LE(found.scaled_residual, 1e-12);
      EXPECT_LE(recomputed_residual(of), 1e-11);
      EXPECT_LE(greatest_error(of), 1e-9);
    }
}

TEST(hpcg, is_symmetric_in_its_operator_and_its_preconditioner) {
  in_chunks loops(2);
  for (const sweep how : all_sweeps)
    for (const box& points : {cube(16), box{8, 16, 24}}) {
      problem of(points, how);
      EXPECT_LE(asymmetry_of_operator(of, loops), 1);
      EXPECT_LE(asymmetry_of_preconditioner(of, loops), 1);
    }
}

TEST(hpcg, with_one_entry_changed_is_asymmetric) {
  in_order loops;
  problem of(cube(16), sweep::rows);
  of.finest().a.values[1] *= 1 + 1e-6;
  EXPECT_GT(asymmetry_of_operator(of, loops), 1);
  EXPECT_GT(asymmetry_of_preconditioner(of, loops), 1);
}

TEST(hpcg, with_an_exaggerated_diagonal_converges_at_once) {
  in_order loops;
  for (const sweep how : all_sweeps)
    for (const int side : {16, 32}) {
      problem of(cube(side), how);
      exaggerate_diagonal(of);
      EXPECT_EQ(solution(of, loops).solve({.tolerance = 1e-12, .preconditioned = false}).iterations, 11);
      EXPECT_LE(solution(of, loops).solve({.tolerance = 1e-12}).iterations, 2);
    }
}

TEST(hpcg, of_a_box_that_four_grids_do_not_divide_is_refused) {
  for (const box& points : {box{16, 16, 12}, box{4, 16, 16}, box{0, 16, 16}}) try {
      problem(points, sweep::rows);
      ADD_FAILURE();
    } catch (const bench::usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("multiple of 8"), std::string::npos) << error.what();
    }
}

}  // namespace
}  // namespace teff::apps::hpcg
