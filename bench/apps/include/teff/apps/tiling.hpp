#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teff::apps {

/// How many rows the blocks have.
enum class block_sizes : std::uint8_t {
  equal,   ///< as asked
  random,  ///< each a number of its own, from half to one and a half of what is asked; in every run the same
};

/// The rows, or the columns, of a square matrix in blocks, of which the last may be smaller.
class tiling {
 public:
  tiling(int size, int block, block_sizes sizes = block_sizes::equal);

  [[nodiscard]] int size() const { return ends_.back(); }
  /// The requested size, at most size().
  [[nodiscard]] int block() const { return block_; }
  /// The rows of the largest.
  [[nodiscard]] int largest() const { return largest_; }
  [[nodiscard]] int count() const { return static_cast<int>(ends_.size()) - 1; }
  [[nodiscard]] int first(int index) const { return ends_[static_cast<std::size_t>(index)]; }
  [[nodiscard]] int extent(int index) const { return first(index + 1) - first(index); }

 private:
  int block_;
  int largest_ = 0;
  std::vector<int> ends_;  ///< of the rows before each block, and of all
};

/// Tiles dealt out to a grid of ranks, in turn in both directions: two-dimensional and block-cyclic. There
/// may be several such grids, one behind the other. Ranks are numbered row by row, and grid by grid.
struct process_grid {
  int down = 1;
  int across = 1;
  int deep = 1;

  /// The grid of so many ranks that is nearest to a square, and not higher than wide.
  [[nodiscard]] static process_grid of(int ranks) {
    process_grid grid{.down = 1, .across = ranks};
    for (int down = 2; down * down <= ranks; ++down)
      if (ranks % down == 0) grid = {.down = down, .across = ranks / down};
    return grid;
  }
  /// The smallest number of grids that is a divisor of `ranks`, and no less than the sides of a cube of them.
  [[nodiscard]] static int layers_of(int ranks) {
    int layers = 1;
    while (layers * layers * layers < ranks || ranks % layers != 0) ++layers;
    return layers;
  }
  /// So many ranks in that many grids.
  [[nodiscard]] static process_grid in_layers(int ranks) {
    const int layers = layers_of(ranks);
    process_grid grid = of(ranks / layers);
    grid.deep = layers;
    return grid;
  }

  [[nodiscard]] int ranks() const { return down * across * deep; }
  [[nodiscard]] int owner(int row, int column, int layer = 0) const {
    return (layer % deep * down + row % down) * across + column % across;
  }
  [[nodiscard]] int row_of(int rank) const { return rank / across; }
  [[nodiscard]] int column_of(int rank) const { return rank % across; }

  friend bool operator==(const process_grid&, const process_grid&) = default;
};

}  // namespace teff::apps
