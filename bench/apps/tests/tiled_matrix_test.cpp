#include "teff/apps/tiled_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "teff/apps/values.hpp"

namespace teff::apps {
namespace {

TEST(tiling, covers_all_rows_also_where_the_last_block_is_smaller) {
  for (const auto& [size, block, count] : {std::tuple{12, 4, 3}, {13, 4, 4}, {3, 4, 1}, {1, 1, 1}}) {
    const tiling blocks(size, block);
    EXPECT_EQ(blocks.count(), count);
    int next = 0;
    for (int i = 0; i < blocks.count(); ++i) {
      EXPECT_EQ(blocks.first(i), next);
      EXPECT_GT(blocks.extent(i), 0);
      next += blocks.extent(i);
    }
    EXPECT_EQ(next, size);
  }
}

TEST(tiling, of_random_sizes_covers_all_rows_and_is_the_same_each_time) {
  for (const auto& [size, block] : {std::pair{4096, 128}, {1000, 7}, {3, 4}, {9, 1}}) {
    const tiling blocks(size, block, block_sizes::random);
    const tiling again(size, block, block_sizes::random);
    ASSERT_EQ(blocks.count(), again.count());
    int next = 0;
    int largest = 0;
    for (int i = 0; i < blocks.count(); ++i) {
      EXPECT_EQ(blocks.first(i), next);
      EXPECT_EQ(blocks.extent(i), again.extent(i));
      EXPECT_LE(blocks.extent(i), block + block / 2);
      if (i + 1 < blocks.count()) {
        EXPECT_GE(blocks.extent(i), (block + 1) / 2);
      }
      largest = std::max(largest, blocks.extent(i));
      next += blocks.extent(i);
    }
    EXPECT_EQ(next, size);
    EXPECT_EQ(blocks.size(), size);
    EXPECT_EQ(blocks.largest(), largest);
  }
}

TEST(tiling, of_random_sizes_has_many_of_them) {
  const tiling blocks(4096, 64, block_sizes::random);
  std::set<int> seen;
  for (int i = 0; i < blocks.count(); ++i) seen.insert(blocks.extent(i));
  EXPECT_GT(seen.size(), 20U);
}

TEST(process_grid, in_layers_is_as_near_a_cube_as_can_be) {
  EXPECT_EQ(process_grid::in_layers(1), (process_grid{1, 1, 1}));
  EXPECT_EQ(process_grid::in_layers(2), (process_grid{1, 1, 2}));
  EXPECT_EQ(process_grid::in_layers(4), (process_grid{1, 2, 2}));
  EXPECT_EQ(process_grid::in_layers(7), (process_grid{1, 1, 7}));
  EXPECT_EQ(process_grid::in_layers(8), (process_grid{2, 2, 2}));
  EXPECT_EQ(process_grid::in_layers(12), (process_grid{2, 2, 3}));
  EXPECT_EQ(process_grid::in_layers(27), (process_grid{3, 3, 3}));
}

TEST(process_grid, of_layers_numbers_their_ranks_one_after_the_other) {
  const process_grid grid{.down = 2, .across = 3, .deep = 2};
  EXPECT_EQ(grid.ranks(), 12);
  EXPECT_EQ(grid.owner(3, 5, 0), 5);
  EXPECT_EQ(grid.owner(3, 5, 1), 11);
  EXPECT_EQ(grid.owner(3, 5, 2), 5);
}

TEST(process_grid, is_as_square_as_can_be) {
  EXPECT_EQ(process_grid::of(1), (process_grid{1, 1}));
  EXPECT_EQ(process_grid::of(2), (process_grid{1, 2}));
  EXPECT_EQ(process_grid::of(7), (process_grid{1, 7}));
  EXPECT_EQ(process_grid::of(12), (process_grid{3, 4}));
  EXPECT_EQ(process_grid::of(16), (process_grid{4, 4}));
}

TEST(process_grid, deals_out_tiles_in_turn_in_both_directions) {
  const process_grid grid{.down = 2, .across = 3};
  EXPECT_EQ(grid.owner(0, 0), 0);
  EXPECT_EQ(grid.owner(0, 5), 2);
  EXPECT_EQ(grid.owner(3, 0), 3);
  EXPECT_EQ(grid.owner(5, 4), 4);
  for (int rank = 0; rank < grid.ranks(); ++rank)
    EXPECT_EQ(grid.owner(grid.row_of(rank), grid.column_of(rank)), rank);
}

TEST(tiled_matrix, has_each_tile_on_one_rank) {
  const process_grid grid{.down = 2, .across = 3};
  const tiling blocks(50, 8);
  std::vector<int> seen(static_cast<std::size_t>(blocks.count() * blocks.count()));
  for (int rank = 0; rank < grid.ranks(); ++rank)
    tiled_matrix(blocks, grid, rank, layout::tiles).visit_own([&](int row, int column) {
      ++seen[static_cast<std::size_t>(row * blocks.count() + column)];
    });
  for (const int each : seen) EXPECT_EQ(each, 1);
}

/// The tiles are written in one order and read in another: no two of them share memory.
TEST(tiled_matrix, keeps_all_tiles_apart_in_both_layouts) {
  const process_grid grid{.down = 2, .across = 2};
  const values made(values::kind::general, 29, 7);
  const auto visit_all = [&](auto visit) {
    for (const block_sizes sizes : {block_sizes::equal, block_sizes::random})
      for (const layout how : {layout::tiles, layout::columns})
        for (int rank = 0; rank < grid.ranks(); ++rank) visit(tiling(29, 8, sizes), how, rank);
  };
  visit_all([&](const tiling& blocks, layout how, int rank) {
    const tiled_matrix matrix(blocks, grid, rank, how);
    matrix.visit_own([&](int row, int column) {
      made.fill(matrix.at(row, column), blocks.first(row), blocks.first(column));
    });
    matrix.visit_own([&](int row, int column) {
      const tile each = matrix.at(row, column);
      EXPECT_EQ(each.rows, blocks.extent(row));
      EXPECT_EQ(each.columns, blocks.extent(column));
      for (int j = 0; j < each.columns; ++j)
        for (int i = 0; i < each.rows; ++i)
          ASSERT_EQ(each.column(j)[i], made.at(blocks.first(row) + i, blocks.first(column) + j));
    });
  });
}

TEST(tiled_matrix, of_one_rank_in_columns_is_the_matrix) {
  const tiling blocks(29, 8);
  const tiled_matrix matrix(blocks, {}, 0, layout::columns);
  EXPECT_EQ(matrix.local_rows(), 29);
  EXPECT_EQ(matrix.local_columns(), 29);
  EXPECT_EQ(matrix.at(2, 1).data - matrix.data(), 8 * 29 + 16);
}

TEST(values, of_a_symmetric_matrix_are_symmetric_and_others_differ) {
  const values symmetric(values::kind::positive_definite, 40, 1);
  const values general(values::kind::general, 40, 1);
  EXPECT_EQ(symmetric.at(30, 4), symmetric.at(4, 30));
  EXPECT_NE(general.at(30, 4), general.at(4, 30));
  EXPECT_NE(general.at(30, 4), values(values::kind::general, 40, 2).at(30, 4));
}

}  // namespace
}  // namespace teff::apps
