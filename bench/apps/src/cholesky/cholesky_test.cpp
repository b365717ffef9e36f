#include "teff/apps/cholesky.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "ranks_in_threads.hpp"

namespace teff::apps {
namespace {

/// All tasks but one, each by its rank; final tiles go to all ranks.
void run_all(std::vector<cholesky>& ranks, const cholesky::task& left_out = {-1, 0, 0}) {
  ranks.front().visit_in_order([&](const cholesky::task& which) {
    if (which == left_out) return;
    ranks[static_cast<std::size_t>(ranks.front().at().grid.owner(which.row, which.column))].execute(which);
    if (cholesky::makes_final(which))
      spread(
          ranks, [](const cholesky& each) -> const tiled_matrix& { return each.a(); }, which.row,
          which.column);
  });
}

TEST(cholesky, has_a_residual_that_rounding_explains) {
  for (const process_grid& grid : {one_rank, six_ranks})
    for (const auto& [size, block] : {std::pair{40, 8}, {41, 8}, {5, 8}, {1, 1}, {300, 32}}) {
      auto ranks = on_grid<cholesky>(size, block, grid);
      run_all(ranks);
      for (const double each : residuals(ranks))
        EXPECT_LE(each, residual_bound(size)) << size << "/" << block;
    }
}

TEST(cholesky, of_random_blocks_has_a_residual_that_rounding_explains) {
  for (const process_grid& grid : {one_rank, six_ranks})
    for (const auto& [size, block] : {std::pair{40, 8}, {41, 9}, {5, 8}, {3, 1}, {300, 32}}) {
      auto ranks = on_grid<cholesky>(size, block, grid, block_sizes::random);
      run_all(ranks);
      for (const double each : residuals(ranks))
        EXPECT_LE(each, residual_bound(size)) << size << "/" << block;
    }
}

TEST(cholesky, without_any_one_of_its_updates_is_refused) {
  const cholesky four({.size = 30, .block = 8});
  four.visit_in_order([](const cholesky::task& which) {
    if (cholesky::makes_final(which)) return;  // without these, others may find no positive diagonal
    auto ranks = on_grid<cholesky>(30, 8, six_ranks);
    run_all(ranks, which);
    for (const double each : residuals(ranks)) EXPECT_GT(each, residual_bound(30));
  });
}

TEST(cholesky, with_one_element_spoilt_is_refused) {
  for (const double wrong : {1e-6, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    auto ranks = on_grid<cholesky>(200, 64, one_rank);
    run_all(ranks);
    ranks.front().a().at(2, 1).data[7] += wrong;
    EXPECT_FALSE(residuals(ranks).front() <= residual_bound(200)) << wrong;
  }
}

TEST(cholesky, that_was_right_in_the_run_before_is_refused_without_a_run) {
  auto ranks = on_grid<cholesky>(40, 8, one_rank);
  run_all(ranks);
  ranks.front().reset();
  EXPECT_GT(residuals(ranks).front(), residual_bound(40));
}

TEST(cholesky, fulfils_each_task_as_often_as_its_indegree_says) {
  const cholesky factors({.size = 30, .block = 5});
  std::map<std::tuple<int, int, int>, int> fulfilled;
  const auto count = [&](const cholesky::task& each) { ++fulfilled[{each.step, each.row, each.column}]; };
  factors.visit_in_order([&](const cholesky::task& which) { factors.visit_next(which, count); });
  factors.visit_in_order([&](const cholesky::task& which) {
    const auto found = fulfilled.find({which.step, which.row, which.column});
    EXPECT_EQ(found == fulfilled.end() ? 0 : found->second, cholesky::indegree(which));
    if (found != fulfilled.end()) fulfilled.erase(found);
  });
  EXPECT_TRUE(fulfilled.empty()) << "no task but these is fulfilled";
}

TEST(cholesky, gives_no_task_a_higher_priority_than_one_that_it_needs) {
  const cholesky factors({.size = 30, .block = 5});
  factors.visit_in_order([&](const cholesky::task& which) {
    factors.visit_next(which, [&](const cholesky::task& after) {
      EXPECT_LE(cholesky::priority(after), cholesky::priority(which));
    });
  });
}

TEST(cholesky, gives_each_task_a_number_of_its_own) {
  const cholesky factors({.size = 30, .block = 5});
  std::set<std::size_t> numbers;
  factors.visit_in_order([&](const cholesky::task& which) { numbers.insert(factors.number(which)); });
  EXPECT_EQ(static_cast<std::int64_t>(numbers.size()), factors.tasks());
  EXPECT_EQ(static_cast<std::int64_t>(*numbers.rbegin()), factors.tasks() - 1);
}

}  // namespace
}  // namespace teff::apps
