// parallel_reduce: what a loop's iterations yield, combined.
#pragma once

#include <teff/detail/loops/indices.hpp>
#include <teff/join.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <utility>

namespace teff {

namespace detail {

// Combines map(first) ... map(last - 1) by a binary tree over blocks of `block` elements: its shape follows
// from the range alone.
template <class T, std::integral I, class Map, class Combine>
T reduce_tree(I first, I last, const T& identity, Map& map, Combine& combine, std::size_t block) {
  const std::size_t count = loop_distance(first, last);
  if (count <= block) {
    T sum = identity;
    for (; first != last; ++first) sum = std::invoke(combine, std::move(sum), std::invoke(map, first));
    return sum;
  }
  const std::size_t blocks = 1 + (count - 1) / block;
  const I middle = loop_advance(first, (blocks / 2 + blocks % 2) * block);
  auto [left, right] =
      join([&, first, middle] { return reduce_tree(first, middle, identity, map, combine, block); },
           as_part_of<Map>(
               [&, middle, last] { return reduce_tree(middle, last, identity, map, combine, block); }));
  return std::invoke(combine, std::move(left), std::move(right));
}

}  // namespace detail

// combine(... combine(identity, map(first)) ..., map(last - 1)), bracketed as a binary tree over blocks.
//
// The bracketing depends on the length of the range and on `block` only, never on the number of workers or on
// who was quicker: a sum of floating-point numbers is the same in every run. `combine` must be associative up
// to what the caller accepts as equal, and `identity` neutral. `block` is the number of elements one task
// combines; 0 chooses (length / 1024, at least 1). The type of an index: as parallel_for. Exceptions: as
// join.
//
//   double dot = teff::parallel_reduce(0, n, 0.0, [&](int i) { return x[i] * y[i]; }, std::plus<>{});
template <std::integral First, std::integral Last, class T, class Map, class Combine>
[[nodiscard]] T parallel_reduce(First first, Last last, T identity, Map&& map, Combine&& combine,
                                std::size_t block = 0) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_reduce");
  if (begin == end) return identity;
  constexpr std::size_t blocks_by_default = 1024;
  if (block == 0) block = 1 + (detail::loop_distance(begin, end) - 1) / blocks_by_default;
  return detail::reduce_tree<T>(begin, end, identity, map, combine, block);
}

}  // namespace teff
