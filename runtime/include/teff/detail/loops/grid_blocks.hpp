// Blocks of loops over grids: a grid's points, or its tiles, are numbered row by row, and the loop is over
// the numbers.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/loops/blocks.hpp>
#include <teff/detail/loops/indices.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace teff::detail {

// Throws misuse if they are 2^64 or more.
template <loop_integer Index, std::size_t Dimensions>
std::uint64_t points_in(const std::array<Index, Dimensions>& extents) {
  if (std::ranges::find(extents, Index{0}) != extents.end()) return 0;
  std::uint64_t count = 1;
  for (const Index extent : extents) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(extent), &count))
      throw_error(misuse("teff::parallel_for: a grid has at most 2^64 - 1 points"));
  }
  return count;
}

// How many indices there are from `first` to before `last`. Throws misuse if that is no Index.
template <loop_integer Index>
constexpr Index extent_from(Index first, Index last) {
  if (first >= last) return 0;
  Index extent = 0;
  if (__builtin_sub_overflow(last, first, &extent))
    throw_error(misuse("teff::grid::from: a row has more points than the type of its indices can count"));
  return extent;
}

// The point of this number. The grid is not empty.
template <loop_integer Index, std::size_t Dimensions>
std::array<Index, Dimensions> point_of(std::uint64_t number,
                                       const std::array<Index, Dimensions>& extents) noexcept {
  std::array<Index, Dimensions> point{};
  for (std::size_t d = Dimensions; d-- > 0;) {
    const auto extent = static_cast<std::uint64_t>(extents[d]);
    point[d] = static_cast<Index>(number % extent);
    number /= extent;
  }
  return point;
}

template <std::size_t, class T>
using repeated = T;

// The body at the points of one row, from its `first` to before `last`, where the grid begins at `origin`.
template <loop_integer Index, std::size_t Dimensions, class Body>
void run_row(Body& body, const std::array<Index, Dimensions>& origin,
             const std::array<Index, Dimensions>& row, Index first, Index last) {
  [&]<std::size_t... D>(std::index_sequence<D...>) {
    body_at_hand<Body, repeated<D, Index>..., Index> at_hand = body;
    [[maybe_unused]] const std::array<Index, sizeof...(D)> outer{static_cast<Index>(origin[D] + row[D])...};
    first = static_cast<Index>(first + origin.back());
    last = static_cast<Index>(last + origin.back());
    for (; first < last; ++first) std::invoke(at_hand, Index{outer[D]}..., Index{first});
  }(std::make_index_sequence<Dimensions - 1>());
}

template <loop_integer Index, std::size_t Dimensions, class Body>
struct grid_blocks {
  const std::array<Index, Dimensions>& origin;
  const std::array<Index, Dimensions>& extents;
  Body& body;

  [[nodiscard]] grid_blocks piece() const noexcept { return *this; }

  void operator()(std::uint64_t first, std::uint64_t last) const {
    auto point = point_of(first, extents);
    for (;;) {
      const Index from = point.back();
      const auto in_row = std::min(static_cast<std::uint64_t>(extents.back() - from), last - first);
      run_row(body, origin, point, from, static_cast<Index>(from + static_cast<Index>(in_row)));
      first += in_row;
      if (first == last) return;
      to_next_row(point);
    }
  }

 private:
  void to_next_row(std::array<Index, Dimensions>& point) const noexcept {
    point.back() = 0;
    for (std::size_t d = Dimensions - 1; d-- > 0;) {
      if (++point[d] < extents[d]) return;
      point[d] = 0;
    }
  }
};

// A grid and the extents of its tiles.
template <loop_integer Index, std::size_t Dimensions>
struct tiled_grid {
  std::array<Index, Dimensions> origin;
  std::array<Index, Dimensions> extents;
  std::array<Index, Dimensions> tile;

  // How many tiles there are in each dimension.
  [[nodiscard]] std::array<Index, Dimensions> tiles_along() const noexcept {
    std::array<Index, Dimensions> count{};
    for (std::size_t d = 0; d < Dimensions; ++d) {
      count[d] = static_cast<Index>(extents[d] / tile[d] + (extents[d] % tile[d] != 0));
    }
    return count;
  }
};

template <loop_integer Index, std::size_t Dimensions, class Body>
struct tile_blocks {
  const tiled_grid<Index, Dimensions>& points;
  Body& body;

  [[nodiscard]] tile_blocks piece() const noexcept { return *this; }

  void operator()(std::uint64_t first, std::uint64_t last) const {
    for (; first < last; ++first) run_tile(point_of(first, points.tiles_along()));
  }

 private:
  void run_tile(const std::array<Index, Dimensions>& tile) const {
    std::array<Index, Dimensions> begin{};
    std::array<Index, Dimensions> end{};
    for (std::size_t d = 0; d < Dimensions; ++d) {
      begin[d] = static_cast<Index>(tile[d] * points.tile[d]);
      end[d] = static_cast<Index>(begin[d] + std::min<Index>(points.tile[d], points.extents[d] - begin[d]));
    }
    run_rows<0>(begin, end, begin);
  }

  template <std::size_t D>
  void run_rows(const std::array<Index, Dimensions>& begin, const std::array<Index, Dimensions>& end,
                std::array<Index, Dimensions> point) const {
    if constexpr (D + 1 == Dimensions) {
      run_row(body, points.origin, point, begin[D], end[D]);
    } else {
      for (point[D] = begin[D]; point[D] < end[D]; ++point[D]) run_rows<D + 1>(begin, end, point);
    }
  }
};

}  // namespace teff::detail
