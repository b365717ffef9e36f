#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "app_in_tests.hpp"
#include "leanmd/known.hpp"
#include "leanmd/problem.hpp"
#include "leanmd/simulate.hpp"
#include "teff/bench/failure.hpp"

namespace teff::apps::leanmd {
namespace {

void expect_near(double found, double expected, const char* what) {
  if (expected == 0) return;
  EXPECT_NEAR(found / expected, 1, 1e-10) << what << " " << found;
}

/// Moves the particles by a third of a cell: many leave their cell, some over a side of the box.
void scatter(problem& p) {
  for (cell& each : p.cells) {
    for (double& x : each.position.x) x += 5;
    for (double& y : each.position.y) y -= 5;
  }
}

class leanmd_of : public testing::TestWithParam<known> {};

TEST_P(leanmd_of, a_known_box_has_the_known_energies) {
  const known& expected = GetParam();
  in_order loops;
  problem p(expected.cells);
  const outcome found = simulate(p, expected.steps, loops);
  expect_near(found.first.potential, expected.found.first.potential, "first potential");
  expect_near(found.first.kinetic, expected.found.first.kinetic, "first kinetic");
  expect_near(found.last.potential, expected.found.last.potential, "last potential");
  expect_near(found.last.kinetic, expected.found.last.kinetic, "last kinetic");
}

// Without the last, which takes seconds: a program that runs it compares its answer.
INSTANTIATE_TEST_SUITE_P(leanmd, leanmd_of, testing::ValuesIn(std::begin(all_known), std::end(all_known) - 1),
                         [](const auto& of) {
                           return "side_" + std::to_string(of.param.cells.x) + "_steps_" +
                                  std::to_string(of.param.steps);
                         });

TEST(leanmd, in_chunks_on_threads_has_the_same_energies_bit_by_bit) {
  in_order one;
  problem expected({3, 4, 3});
  const outcome in_one = simulate(expected, 3, one);
  in_chunks some(10);
  problem p({3, 4, 3});
  const outcome in_parts = simulate(p, 3, some);
  EXPECT_EQ(in_parts.last.potential, in_one.last.potential);
  EXPECT_EQ(in_parts.last.kinetic, in_one.last.kinetic);
}

TEST(leanmd, has_the_same_bits_in_any_order_of_its_tasks) {
  constexpr place cells{3, 3, 4};
  in_order one;
  problem expected(cells);
  static_cast<void>(simulate(expected, 2, one));
  scatter(expected);
  migrate(expected, one);
  const outcome in_one = simulate(expected, 1, one);
  in_any_order tasks(18, 0);
  problem p(cells);
  static_cast<void>(simulate(p, 2, tasks));
  scatter(p);
  migrate(p, tasks);
  const outcome in_parts = simulate(p, 1, tasks);
  EXPECT_EQ(in_parts.last.potential, in_one.last.potential);
  EXPECT_EQ(in_parts.last.kinetic, in_one.last.kinetic);
  for (std::size_t i = 0; i < p.cells.size(); ++i)
    EXPECT_EQ(p.cells[i].position.x, expected.cells[i].position.x) << "cell " << i;
}

TEST(leanmd, keeps_momentum_energy_and_particles) {
  in_order loops;
  problem p({3, 3, 3});
  const std::int64_t before = particles(p);
  const triple at_first = total_velocity(p);
  const outcome found = simulate(p, 11, loops);
  const triple at_last = total_velocity(p);
  EXPECT_NEAR(at_last.x, at_first.x, 1e-12);
  EXPECT_NEAR(at_last.y, at_first.y, 1e-12);
  EXPECT_NEAR(at_last.z, at_first.z, 1e-12);
  const double energy = found.first.potential + found.first.kinetic;
  EXPECT_NEAR(found.last.potential + found.last.kinetic, energy, 0.02 * found.first.kinetic);
  EXPECT_EQ(particles(p), before);
}

TEST(leanmd, moves_particles_to_the_cell_that_they_are_in) {
  in_order loops;
  problem p({3, 3, 3});
  const std::int64_t before = particles(p);
  scatter(p);
  migrate(p, loops);
  EXPECT_EQ(particles(p), before);
  for (std::int32_t number = 0; number < p.space.count(); ++number) {
    const place at = p.space.at(number);
    const triples& position = p.cells[std::size_t(number)].position;
    for (std::size_t i = 0; i < position.size(); ++i) {
      EXPECT_TRUE(position.x[i] >= at.x * cell_size.x && position.x[i] <= (at.x + 1) * cell_size.x);
      EXPECT_TRUE(position.y[i] >= at.y * cell_size.y && position.y[i] <= (at.y + 1) * cell_size.y);
    }
  }
}

TEST(leanmd, of_fewer_than_three_cells_a_side_is_refused) {
  try {
    problem({3, 2, 3});
    ADD_FAILURE();
  } catch (const bench::usage_error& error) {
    EXPECT_NE(std::string(error.what()).find("3x3x3"), std::string::npos) << error.what();
  }
}

TEST(leanmd, says_the_known_energies) {
  const finding found = result_of("-app leanmd -steps 2");
  const outcome expected = std::begin(all_known)->found;
  for (const auto& [key, energy] : {std::pair{"potential_first", expected.first.potential},
                                    {"potential_last", expected.last.potential},
                                    {"kinetic_first", expected.first.kinetic},
                                    {"kinetic_last", expected.last.kinetic}})
    EXPECT_NEAR(found.own[key].get<double>() / energy, 1, 1e-10) << key;
}

}  // namespace
}  // namespace teff::apps::leanmd
