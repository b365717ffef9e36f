#include "teff/apps/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "ranks_in_threads.hpp"

namespace teff::apps {
namespace {

/// Brings the sum that a task adds from its layer.
void bring_sum(const std::vector<gemm>& ranks, const gemm::task& which) {
  const gemm& any = ranks.front();
  const int layer = any.added_layer(which);
  const int from = any.at().grid.owner(which.row, which.column, layer);
  const auto sum_at = [&](int rank) {
    return ranks[static_cast<std::size_t>(rank)].sum(layer).at(which.row, which.column).elements();
  };
  if (from != any.owner(which)) std::ranges::copy(sum_at(from), sum_at(any.owner(which)).begin());
}

/// All tasks but one, in order, each by its rank, which has copies of what it reads.
void run_all(std::vector<gemm>& ranks, const gemm::task& left_out = {-1, 0, 0}) {
  const int tiles = ranks.front().tiles();
  for (int i = 0; i < tiles; ++i)
    for (int j = 0; j < tiles; ++j) {
      spread(ranks, [](const gemm& each) -> const tiled_matrix& { return each.a(); }, i, j);
      spread(ranks, [](const gemm& each) -> const tiled_matrix& { return each.b(); }, i, j);
    }
  const gemm& any = ranks.front();
  for (int step = 0; step < tiles + any.layers() - 1; ++step)
    for (int row = 0; row < tiles; ++row)
      for (int column = 0; column < tiles; ++column)
        if (const gemm::task which{step, row, column}; which != left_out) {
          if (!any.is_product(which)) bring_sum(ranks, which);
          ranks[static_cast<std::size_t>(any.owner(which))].execute(which);
        }
}

TEST(gemm, has_a_residual_that_rounding_explains) {
  for (const process_grid& grid : {one_rank, six_ranks, twelve_ranks})
    for (const auto& [size, block] : {std::pair{40, 8}, {41, 8}, {5, 8}, {1, 1}}) {
      auto ranks = on_grid<gemm>(size, block, grid);
      run_all(ranks);
      for (const double each : residuals(ranks))
        EXPECT_LE(each, residual_bound(size)) << size << "/" << block;
    }
}

TEST(gemm, of_random_blocks_has_a_residual_that_rounding_explains) {
  for (const process_grid& grid : {one_rank, six_ranks, twelve_ranks})
    for (const auto& [size, block] : {std::pair{40, 8}, {41, 9}, {5, 8}, {3, 1}}) {
      auto ranks = on_grid<gemm>(size, block, grid, block_sizes::random);
      run_all(ranks);
      for (const double each : residuals(ranks))
        EXPECT_LE(each, residual_bound(size)) << size << "/" << block;
    }
}

TEST(gemm, of_one_rank_in_layers_has_a_residual_that_rounding_explains) {
  for (const int layers : {2, 3, 9}) {
    auto ranks = all_ranks<gemm>({.size = 40, .block = 8, .layers = layers});
    run_all(ranks);
    EXPECT_LE(residuals(ranks).front(), residual_bound(40)) << layers;
  }
}

TEST(gemm, without_any_one_of_its_tasks_is_refused) {
  for (const process_grid& grid : {six_ranks, twelve_ranks})
    for (int step = 0; step < 3 + grid.deep - 1; ++step)
      for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
          auto ranks = on_grid<gemm>(20, 8, grid);
          run_all(ranks, {step, row, column});
          for (const double each : residuals(ranks)) EXPECT_GT(each, residual_bound(20));
        }
}

TEST(gemm, reaches_each_task_as_often_as_its_indegree_says) {
  for (const int layers : {1, 2, 3, 9}) {
    const gemm product({.size = 30, .block = 6, .layers = layers});
    std::map<std::tuple<int, int, int>, int> reached;
    std::int64_t ready = 0;
    const auto run_from = [&](const auto& self, const gemm::task& which) -> void {
      if (++reached[{which.step, which.row, which.column}] < product.indegree(which)) return;
      ++ready;
      if (const auto next = product.next(which)) self(self, *next);
    };
    product.visit_first([&](const gemm::task& first) { run_from(run_from, first); });
    EXPECT_EQ(ready, product.tasks());
    EXPECT_EQ(product.own_tasks(), product.tasks());
    for (const auto& [name, times] : reached) {
      const auto& [step, row, column] = name;
      EXPECT_EQ(times, product.indegree({step, row, column}));
    }
  }
}

TEST(gemm, of_several_ranks_has_each_task_on_one) {
  for (const process_grid& grid : {one_rank, six_ranks, twelve_ranks}) {
    auto ranks = on_grid<gemm>(50, 8, grid);
    std::int64_t all = 0;
    for (const gemm& each : ranks) all += each.own_tasks();
    EXPECT_EQ(all, ranks.front().tasks());
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
