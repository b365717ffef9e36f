#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app_in_tests.hpp"
#include "hpccg/kernels.hpp"
#include "ways_over_threads.hpp"

namespace teff::apps {
namespace {

std::unique_ptr<app> solver_of(const std::string& grid) {
  return maker_of("-app hpccg -grid " + grid)({});
}

TEST(hpccg, has_the_residuals_of_the_reference) {
  for (const auto* grid : {"10x10x10", "32x32x32"}) {
    in_order calls;
    const finding found = result_of(*solver_of(grid), calls);
    EXPECT_EQ(found.wrong, "");
    EXPECT_LE(found.residual, found.bound) << grid;
    EXPECT_GT(found.own["residuals"]["0"].get<double>(), 200);
  }
}

TEST(hpccg, has_the_same_bits_in_every_order_of_its_tasks) {
  for (const auto* grid : {"7x5x11", "1x1x100", "3x3x3"}) {
    const auto app = solver_of(grid);
    in_order calls;
    const finding expected = result_of(*app, calls);
    EXPECT_LE(expected.residual, expected.bound) << grid;
    for (const std::int64_t parts : {1, 2, 5, 16})
      for (unsigned seed = 0; seed < orders; ++seed) {
        in_any_order tasks(parts, seed);
        const finding found = result_of(*app, tasks);
        EXPECT_EQ(found.residual, expected.residual) << grid << ", " << parts << " parts, seed " << seed;
        EXPECT_EQ(found.own, expected.own) << grid << ", " << parts << " parts, seed " << seed;
      }
  }
}

TEST(hpccg, has_the_known_residuals_over_ranks_in_every_order_of_their_tasks_and_messages) {
  const description::maker make = maker_of("-app hpccg -grid 5x6x7");
  for (const int ranks : {2, 4})
    for (const std::int64_t parts : {1, 3})
      for (unsigned seed = 0; seed < orders; ++seed) {
        const finding found = found_over_threads(ranks, make, parts, seed);
        EXPECT_EQ(found.wrong, "") << ranks << " ranks, " << parts << " parts, seed " << seed;
        EXPECT_LE(found.residual, found.bound) << ranks << " ranks, " << parts << " parts, seed " << seed;
      }
}

TEST(hpccg, that_was_right_in_the_run_before_is_refused_without_a_run) {
  const auto app = solver_of("8x8x8");
  in_order calls;
  const finding right = result_of(*app, calls);
  EXPECT_LE(right.residual, right.bound);
  app->reset();
  EXPECT_GT(app->check(calls).residual, right.bound);
}

/// Leaves out one part of one step.
class forgetful final : public way {
 public:
  explicit forgetful(int which) : which_(which) {}
  void run(const step& each) override {
    const bool forgets = number_++ == which_;
    for (std::int64_t i = 0; i < each.count; ++i)
      if (!forgets || i != each.count / 2) each.body({i, i + 1});
  }
  void wait() override {}

 private:
  int which_;
  int number_ = 0;
};

TEST(hpccg, without_a_part_of_any_step_of_an_iteration_is_refused) {
  const auto app = solver_of("10x10x10");
  constexpr int steps_of_start = 6;
  constexpr int steps_of_iteration = 7;  // the first one has no sum of its own
  constexpr int first = 2;               // before it, steps multiply zeros
  for (int which = first; which < steps_of_start + steps_of_iteration; ++which) {
    forgetful way(which);
    const finding found = result_of(*app, way);
    EXPECT_FALSE(found.residual <= found.bound && found.wrong.empty()) << which;
  }
}

TEST(hpccg, has_the_matrix_of_the_stencil) {
  const hpccg::matrix a({4, 3, 5}, false, false);
  EXPECT_EQ(a.rows, 60);
  EXPECT_EQ(a.elements(), (3 * 4 - 2) * (3 * 3 - 2) * (3 * 5 - 2));
  std::vector<double> b(60);
  hpccg::fill_right_side(a, b.data(), 0, a.rows);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    double sum = 0;
    for (std::int64_t i = a.first[row]; i < a.first[row + 1]; ++i) {
      EXPECT_EQ(a.values[i], a.columns[i] == row ? 27 : -1);
      EXPECT_LE(std::abs(a.columns[i] - row), a.reach);
      sum += a.values[i];
    }
    EXPECT_EQ(b[static_cast<std::size_t>(row)], sum) << "the solution is 1 everywhere";
  }
}

TEST(hpccg, of_a_rank_has_the_rows_that_the_matrix_of_all_ranks_has) {
  const hpccg::matrix whole({4, 3, 5}, false, false);
  const hpccg::matrix middle({4, 3, 2}, true, true);
  constexpr std::int64_t before = 4 * 3;  // rows of a plane: the rank's are the third and the fourth plane
  for (std::int64_t row = 0; row < middle.rows; ++row) {
    const std::int64_t same = row + 2 * before;
    const std::int64_t count = middle.first[row + 1] - middle.first[row];
    ASSERT_EQ(count, whole.first[same + 1] - whole.first[same]);
    for (std::int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(middle.columns[middle.first[row] + i] + before, whole.columns[whole.first[same] + i]);
      EXPECT_EQ(middle.values[middle.first[row] + i], whole.values[whole.first[same] + i]);
    }
  }
}

TEST(hpccg, adds_up_a_product_of_any_length) {
  std::vector<double> x(100, 1.0);
  for (std::int64_t length = 0; length <= 40; ++length)
    EXPECT_EQ(hpccg::dot(x.data(), x.data(), 3, 3 + length), static_cast<double>(length));
}

}  // namespace
}  // namespace teff::apps
