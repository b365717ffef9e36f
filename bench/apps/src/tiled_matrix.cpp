#include "teff/apps/tiled_matrix.hpp"

#include <sys/mman.h>

#include <new>

namespace teff::apps {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

/// How many rows (or columns) the blocks before each block have, counting only the blocks of one of `parts`:
/// every `parts`-th from `mine` on. The last number counts all.
std::vector<int> dealt_before(const tiling& blocks, int mine, int parts) {
  std::vector<int> before{0};
  for (int index = 0; index < blocks.count(); ++index)
    before.push_back(before.back() + (index % parts == mine ? blocks.extent(index) : 0));
  return before;
}

}  // namespace

tiled_matrix::tiled_matrix(const tiling& blocks, const process_grid& grid, int rank, layout how)
    : blocks_(blocks),
      grid_(grid),
      rank_(rank),
      layout_(how),
      rows_before_(dealt_before(blocks, grid.row_of(rank), grid.down)),
      columns_before_(dealt_before(blocks, grid.column_of(rank), grid.across)) {
  const bool has_all = how == layout::tiles;
  const auto count = static_cast<std::size_t>(has_all ? blocks.size() : local_rows()) *
                     static_cast<std::size_t>(has_all ? blocks.size() : local_columns());
  const std::size_t bytes = (count * sizeof(double) / huge_page + 1) * huge_page;
  elements_.reset(static_cast<double*>(std::aligned_alloc(huge_page, bytes)));
  if (!elements_) throw std::bad_alloc();
  madvise(elements_.get(), bytes, MADV_HUGEPAGE);  // tiles of 64 rows were computed up to 10 % faster
}

tile tiled_matrix::at(int row, int column) const {
  const int rows = blocks_.extent(row);
  const int columns = blocks_.extent(column);
  if (layout_ == layout::tiles) {  // one after the other, down the columns of tiles
    const std::ptrdiff_t columns_before = std::ptrdiff_t{blocks_.first(column)} * blocks_.size();
    const std::ptrdiff_t tiles_above = std::ptrdiff_t{blocks_.first(row)} * columns;
    return {elements_.get() + columns_before + tiles_above, rows, columns, rows};
  }
  const std::ptrdiff_t first_row = rows_before_[static_cast<std::size_t>(row)];
  const std::ptrdiff_t first_column = columns_before_[static_cast<std::size_t>(column)];
  return {elements_.get() + first_column * local_rows() + first_row, rows, columns, local_rows()};
}

}  // namespace teff::apps
