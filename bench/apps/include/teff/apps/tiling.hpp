#pragma once

#include <algorithm>

namespace teff::apps {

/// The rows, or the columns, of a square matrix in blocks, of which the last may be smaller.
class tiling {
 public:
  tiling(int size, int block) : size_(size), block_(std::min(block, size)) {}

  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int block() const { return block_; }
  [[nodiscard]] int count() const { return (size_ + block_ - 1) / block_; }
  [[nodiscard]] int first(int index) const { return index * block_; }
  [[nodiscard]] int extent(int index) const { return std::min(block_, size_ - first(index)); }

 private:
  int size_;
  int block_;
};

/// Tiles dealt out to a grid of ranks, in turn in both directions: two-dimensional and block-cyclic. Ranks
/// are numbered row by row.
struct process_grid {
  int down = 1;
  int across = 1;

  /// The grid of so many ranks that is nearest to a square, and not higher than wide.
  [[nodiscard]] static process_grid of(int ranks) {
    process_grid grid{.down = 1, .across = ranks};
    for (int down = 2; down * down <= ranks; ++down)
      if (ranks % down == 0) grid = {.down = down, .across = ranks / down};
    return grid;
  }

  [[nodiscard]] int ranks() const { return down * across; }
  [[nodiscard]] int owner(int row, int column) const { return row % down * across + column % across; }
  [[nodiscard]] int row_of(int rank) const { return rank / across; }
  [[nodiscard]] int column_of(int rank) const { return rank % across; }

  friend bool operator==(const process_grid&, const process_grid&) = default;
};

}  // namespace teff::apps
