#include "teff/micro/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace teff::micro {
namespace {

using edges = std::multiset<std::pair<int, int>>;

TEST(grid, has_the_same_edges_seen_from_either_end) {
  for (const int rows : {1, 2, 5, 32})
    for (int dependences = 0; dependences <= std::min(rows, most_dependences); ++dependences) {
      const grid tasks({.rows = rows, .columns = 2, .dependences = dependences});
      edges forth;
      edges back;
      for (int row = 0; row < rows; ++row) {
        tasks.predecessors(row, [&](int before) { forth.emplace(before, row); });
        tasks.successors(row, [&](int behind) { back.emplace(row, behind); });
      }
      EXPECT_EQ(forth, back) << rows << " rows, " << dependences;
      EXPECT_EQ(forth.size(), static_cast<std::size_t>(rows * dependences));
      EXPECT_EQ((std::set<std::pair<int, int>>(forth.begin(), forth.end()).size()), forth.size())
          << "one twice";
    }
}

constexpr work small{.rows = 5, .columns = 4, .dependences = 3};

void run(grid& tasks, std::pair<int, int> left_out) {
  for (int column = 0; column < small.columns; ++column)
    for (int row = 0; row < small.rows; ++row)
      if (std::pair(row, column) != left_out) tasks.execute(row, column);
}

TEST(grid, that_runs_in_order_has_the_checksum_that_is_expected_again_and_again) {
  grid tasks(small);
  for (int i = 0; i < 3; ++i) {
    tasks.reset();
    EXPECT_NE(tasks.checksum(), expected_checksum(small));
    run(tasks, {-1, -1});
    EXPECT_EQ(tasks.checksum(), expected_checksum(small));
  }
}

TEST(grid, in_which_a_task_is_missing_or_too_late_has_another_checksum) {
  for (int column = 0; column < small.columns; ++column)
    for (int row = 0; row < small.rows; ++row) {
      grid tasks(small);
      run(tasks, {row, column});
      EXPECT_NE(tasks.checksum(), expected_checksum(small)) << row << " " << column;
      if (column + 1 == small.columns) continue;  // nobody needs it
      tasks.execute(row, column);
      EXPECT_NE(tasks.checksum(), expected_checksum(small)) << "late: " << row << " " << column;
    }
}

TEST(grid, that_is_a_recursion_runs_each_task_once) {
  for (const int rows : {1, 2, 7})
    for (const int columns : {1, 2, 5}) {
      grid tasks({.made_by = shape::recursion, .rows = rows, .columns = columns});
      int forks = 0;
      recurse(tasks, [&forks](const auto& first, const auto& second) {
        ++forks;
        second();
        first();
      });
      EXPECT_EQ(tasks.checksum(), expected_checksum(tasks.asked())) << rows << " x " << columns;
      EXPECT_EQ(forks, rows * columns / 2);
    }
}

TEST(grid, that_spins_takes_as_long) {
  work asked = small;
  asked.spin = std::chrono::microseconds(50);
  grid tasks(asked);
  const auto began = std::chrono::steady_clock::now();
  run(tasks, {-1, -1});
  EXPECT_GE(std::chrono::steady_clock::now() - began, asked.tasks() * asked.spin);
  EXPECT_EQ(tasks.checksum(), expected_checksum(asked));
}

}  // namespace
}  // namespace teff::micro
