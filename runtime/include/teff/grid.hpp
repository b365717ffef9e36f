// parallel_for over grids: loops within loops, in two dimensions and more.
#pragma once

#include <teff/detail/loops/grid_blocks.hpp>
#include <teff/loops.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace teff {

// All points (i, j...) with 0 <= i < the first extent, 0 <= j < the second, and so on. A negative extent
// counts as 0.
//
//   teff::grid{rows, columns}
//   teff::grid{planes, rows, columns}
//   teff::grid{rows, columns}.tiles(32, 32)
//   teff::grid{rows - 1, columns - 1}.from(1, 1)  // without its border
template <loop_integer Index, std::size_t Dimensions>
struct grid {
  std::array<Index, Dimensions> origin{};
  std::array<Index, Dimensions> extents{};

  template <loop_integer... Extent>
    requires(sizeof...(Extent) == Dimensions)
  constexpr explicit grid(Extent... extent)
      : extents{static_cast<Index>(std::cmp_less(+extent, 0) ? Extent{0} : extent)...} {}

  // The points whose indices are not below the given indices, as for loops that begin there. To be called
  // once, before tiles(). Throws misuse if the type of the indices can't count a row, which begins below 0
  // then, or is unsigned and an index is below 0.
  template <loop_integer... First>
    requires(sizeof...(First) == Dimensions)
  [[nodiscard]] constexpr grid from(First... first) const {
    if constexpr (std::unsigned_integral<Index>) {
      if ((std::cmp_less(+first, 0) || ...))
        detail::throw_error(
            misuse("teff::grid::from: an index is below 0, and the type of the indices is unsigned"));
    }
    grid rest = *this;
    rest.origin = {static_cast<Index>(first)...};
    for (std::size_t d = 0; d < Dimensions; ++d)
      rest.extents[d] = detail::extent_from(rest.origin[d], extents[d]);
    return rest;
  }

  // The same points, tile by tile. A tile is a box of these extents, or a smaller one at the far edges. Use
  // tiles for bodies that profit from locality in every dimension, as a transposition does.
  template <loop_integer... Extent>
    requires(sizeof...(Extent) == Dimensions)
  [[nodiscard]] constexpr detail::tiled_grid<Index, Dimensions> tiles(Extent... extent) const {
    return {origin, extents, {static_cast<Index>(std::cmp_less(+extent, 1) ? Extent{1} : extent)...}};
  }
};

template <loop_integer... Extent>
grid(Extent...) -> grid<std::common_type_t<Extent...>, sizeof...(Extent)>;

// Calls body(i, j...) for every point of a grid, in parallel.
//
// The type of the indices is common to all extents. A worker runs its points in the order of nested loops,
// the last index fastest. The innermost loop goes along a row, or a part of one, and the compiler sees the
// whole of it. In a grid of tiles, one worker runs a tile, in the same order. `grain` counts points, or
// tiles. The rest, with_state() included, is as in parallel_for over indices. Throws misuse if the grid has
// 2^64 points or more.
//
//   teff::parallel_for(teff::grid{rows, columns}, [&](int row, int column) {
//     image[row * columns + column] = shade(row, column);
//   });
template <loop_integer Index, std::size_t Dimensions, class Body>
void parallel_for(const grid<Index, Dimensions>& points, Body&& body, const loop_options& options = {}) {
  detail::run_body(std::uint64_t{0}, detail::points_in(points.extents), body, options,
                   [&points]<class B>(B& each) {
                     return detail::grid_blocks<Index, Dimensions, B>{points.origin, points.extents, each};
                   });
}
template <loop_integer Index, std::size_t Dimensions, class Body>
void parallel_for(const detail::tiled_grid<Index, Dimensions>& points, Body&& body,
                  const loop_options& options = {}) {
  detail::run_body(
      std::uint64_t{0}, detail::points_in(points.tiles_along()), body, options,
      [&points]<class B>(B& each) { return detail::tile_blocks<Index, Dimensions, B>{points, each}; });
}

}  // namespace teff
