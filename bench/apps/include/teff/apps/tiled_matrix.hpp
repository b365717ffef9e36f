#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "teff/apps/tiling.hpp"

namespace teff::apps {

/// A tile, column by column; from one column to the next it is `stride` elements.
struct tile {
  double* data = nullptr;
  int rows = 0;
  int columns = 0;
  int stride = 0;

  [[nodiscard]] double* column(int index) const { return data + static_cast<std::ptrdiff_t>(index) * stride; }
  /// All of it, where it lies by itself.
  [[nodiscard]] std::span<double> elements() const {
    return {data, static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)};
  }
};

/// How a rank's tiles lie in memory.
enum class layout : std::uint8_t {
  tiles,    ///< each by itself. There is room for copies of the other ranks' tiles
  columns,  ///< one matrix of this rank's tiles alone, column by column: what libraries take
};

/// A square matrix of tiles, which belong to ranks. Memory without a write costs nothing.
class tiled_matrix {
 public:
  tiled_matrix(const tiling& blocks, const process_grid& grid, int rank, layout how);

  [[nodiscard]] const tiling& blocks() const { return blocks_; }
  [[nodiscard]] bool is_here(int row, int column) const { return grid_.owner(row, column) == rank_; }
  /// A tile of this rank; or, of the layout of tiles, the place of a copy of another rank's.
  [[nodiscard]] tile at(int row, int column) const;

  /// Calls visit(row, column) for each tile of this rank.
  template <class Visit>
  void visit_own(Visit&& visit) const {
    for (int column = 0; column < blocks_.count(); ++column)
      for (int row = 0; row < blocks_.count(); ++row)
        if (is_here(row, column)) visit(row, column);
  }

  /// Of the layout of columns: where this rank's matrix begins, its rows and its columns.
  [[nodiscard]] double* data() const { return elements_.get(); }
  [[nodiscard]] int local_rows() const { return rows_before_.back(); }
  [[nodiscard]] int local_columns() const { return columns_before_.back(); }

 private:
  struct release {
    void operator()(double* memory) const { std::free(memory); }
  };

  tiling blocks_;
  process_grid grid_;
  int rank_;
  layout layout_;
  std::vector<int> rows_before_;     ///< each block of rows, counting only rows of this rank's tiles
  std::vector<int> columns_before_;  ///< the same for columns
  std::unique_ptr<double[], release> elements_;
};

}  // namespace teff::apps
