// Blocks of loops over grids: a grid's points, or its tiles, are numbered row by row, and the loop is over
// the numbers.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/loops/blocks.hpp>
#include <teff/detail/loops/indices.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <array>
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

template <loop_integer Index, std::size_t Dimensions, class Body>
struct grid_blocks {
  const std::array<Index, Dimensions>& origin;
  const std::array<Index, Dimensions>& extents;
  Body& body;

  [[nodiscard]] grid_blocks piece() const noexcept { return *this; }

  void operator()(std::uint64_t first, std::uint64_t last) const {
    run_from(point_of(first, extents), last - first);
  }
  // So many points, at least one.
  void run_from(std::array<Index, Dimensions> point, std::uint64_t count) const {
    for (;;) {
      const Index from = point.back();
      const auto in_row = std::min(static_cast<std::uint64_t>(extents.back() - from), count);
      run_row(point, static_cast<Index>(from + static_cast<Index>(in_row)));
      count -= in_row;
      if (count == 0) return;
      to_next_row(point);
    }
  }

 private:
  // The body at the points of a row, from `point` to before `last`.
  void run_row(const std::array<Index, Dimensions>& point, Index last) const {
    [&]<std::size_t... D>(std::index_sequence<D...>) {
      body_at_hand<Body, repeated<D, Index>..., Index> at_hand = body;
      [[maybe_unused]] const std::array<Index, sizeof...(D)> outer{
          static_cast<Index>(origin[D] + point[D])...};
      Index inner = static_cast<Index>(origin.back() + point.back());
      for (last = static_cast<Index>(origin.back() + last); inner < last; ++inner)
        std::invoke(at_hand, Index{outer[D]}..., Index{inner});
    }(std::make_index_sequence<Dimensions - 1>());
  }
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
    for (; first < last; ++first) {
      const auto tile = point_of(first, points.tiles_along());
      std::array<Index, Dimensions> corner{};
      std::array<Index, Dimensions> extents{};
      std::uint64_t count = 1;
      for (std::size_t d = 0; d < Dimensions; ++d) {
        const auto begin = static_cast<Index>(tile[d] * points.tile[d]);
        corner[d] = static_cast<Index>(points.origin[d] + begin);
        extents[d] = std::min<Index>(points.tile[d], static_cast<Index>(points.extents[d] - begin));
        count *= static_cast<std::uint64_t>(extents[d]);
      }
      grid_blocks<Index, Dimensions, Body>{corner, extents, body}.run_from({}, count);
    }
  }
};

}  // namespace teff::detail
