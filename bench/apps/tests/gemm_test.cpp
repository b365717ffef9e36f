#include "teff/apps/gemm.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "ranks_in_threads.hpp"

namespace teff::apps {
namespace {

/// All tasks but one, in order, each by its rank, which has copies of what it reads.
void run_all(std::vector<gemm>& ranks, const gemm::task& left_out = {-1, 0, 0}) {
  const int tiles = ranks.front().tiles();
  for (int i = 0; i < tiles; ++i)
    for (int j = 0; j < tiles; ++j) {
      spread(ranks, [](const gemm& each) -> const tiled_matrix& { return each.a(); }, i, j);
      spread(ranks, [](const gemm& each) -> const tiled_matrix& { return each.b(); }, i, j);
    }
  for (int step = 0; step < tiles; ++step)
    for (int row = 0; row < tiles; ++row)
      for (int column = 0; column < tiles; ++column)
        if (const gemm::task which{step, row, column}; which != left_out)
          ranks[static_cast<std::size_t>(ranks.front().at().grid.owner(row, column))].execute(which);
}

TEST(gemm, has_a_residual_that_rounding_explains) {
  for (const process_grid& grid : {one_rank, six_ranks})
    for (const auto& [size, block] : {std::pair{40, 8}, {41, 8}, {5, 8}, {1, 1}}) {
      auto ranks = on_grid<gemm>(size, block, grid);
      run_all(ranks);
      for (const double each : residuals(ranks))
        EXPECT_LE(each, residual_bound(size)) << size << "/" << block;
    }
}

TEST(gemm, without_any_one_of_its_tasks_is_refused) {
  for (int step = 0; step < 3; ++step)
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column) {
        auto ranks = on_grid<gemm>(20, 8, six_ranks);
        run_all(ranks, {step, row, column});
        for (const double each : residuals(ranks)) EXPECT_GT(each, residual_bound(20));
      }
}

TEST(gemm, with_one_element_spoilt_is_refused) {
  for (const double wrong : {1e-6, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    auto ranks = on_grid<gemm>(200, 64, one_rank);
    run_all(ranks);
    ranks.front().c().at(2, 1).data[7] += wrong;
    EXPECT_FALSE(residuals(ranks).front() <= residual_bound(200)) << wrong;
  }
}

TEST(gemm, that_was_right_in_the_run_before_is_refused_without_a_run) {
  auto ranks = on_grid<gemm>(40, 8, one_rank);
  run_all(ranks);
  ranks.front().reset();
  EXPECT_GT(residuals(ranks).front(), residual_bound(40));
}

}  // namespace
}  // namespace teff::apps
