// parallel_reduce: combines what a loop's iterations yield.
#pragma once

#include <teff/detail/loops/tree_reduction.hpp>
#include <teff/detail/scheduler/on_workers.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {

template <class T, loop_index Index, class Map, class Combine>
T reduce_over(Index first, Index last, T init, Map& map, Combine& combine, std::size_t block) {
  if (first == last) return init;
  const std::uint64_t count = loop_distance(first, last);
  const traced_span span(event_kind::loop, name_of<std::remove_const_t<Map>>());
  tree_reduction<T, Index, Map, Combine> reduction(map, combine, block, count);
  return std::invoke(combine, std::move(init), on_workers([&] { return reduction.run(first, count); }));
}

template <class Combine, class T>
concept combines = std::is_invocable_r_v<T, Combine&, T, T>;

}  // namespace detail

// Returns combine(init, the combination of map(i) for all i in [first, last)), computed in parallel; for
// iterators, of map(*i); for a range, of map(x) for each of its elements. An empty loop yields `init`.
//
// Neighbours are combined, in a binary tree over blocks. The tree's shape depends only on the length of the
// loop, on T and on `block`, never on the number of workers or on timing: a sum of floating-point numbers is
// the same in every run. `combine` must be associative, up to what the caller accepts as equal. It need not
// commute. But std::plus and std::multiplies of floating-point numbers are known to commute, and 16 of their
// partial results are computed side by side, by vector instructions. What map yields is converted to T, the
// type of `init`, which can be moved and assigned to; for several values, T can be a tuple or an array.
//
// `block` is the number of elements that are combined in order, one after another; 0: the length decides, and
// the size of T. A map that can't be called with one iteration is called with a whole block, as the body of
// parallel_for is with a part of the loop: use that for what is better combined in place, as a histogram is.
// The type of an index is as in parallel_for, exceptions are as in join.
//
//   double dot = teff::parallel_reduce(0, n, 0.0, [&](int i) { return x[i] * y[i]; }, std::plus<>{});
template <loop_integer First, loop_integer Last, class T, class Map, class Combine>
  requires detail::loop_body<Map, std::common_type_t<First, Last>> && detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(First first, Last last, T init, Map&& map, Combine&& combine,
                                std::size_t block = 0) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_reduce");
  return detail::reduce_over(begin, end, std::move(init), map, combine, block);
}
template <std::random_access_iterator Index, class T, class Map, class Combine>
  requires detail::loop_body<Map, Index> && detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(Index first, std::type_identity_t<Index> last, T init, Map&& map,
                                Combine&& combine, std::size_t block = 0) {
  return detail::reduce_over(first, last, std::move(init), map, combine, block);
}
template <std::ranges::random_access_range Range, class T, class Map, class Combine>
  requires detail::loop_body<Map, std::ranges::iterator_t<Range>> && detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(Range&& range, T init, Map&& map, Combine&& combine, std::size_t block = 0) {
  const auto [first, last] = detail::range_bounds(range);
  return detail::reduce_over(first, last, std::move(init), map, combine, block);
}

// Combines the elements themselves, as std::reduce does.
//
//   double sum = teff::parallel_reduce(x, 0.0);
//   int most = teff::parallel_reduce(x.begin(), x.end(), 0, [](int a, int b) { return std::max(a, b); });
template <std::random_access_iterator Index, class T, class Combine = std::plus<>>
  requires detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(Index first, std::type_identity_t<Index> last, T init,
                                Combine&& combine = {}) {
  std::identity map;
  return detail::reduce_over(first, last, std::move(init), map, combine, 0);
}
template <std::ranges::random_access_range Range, class T, class Combine = std::plus<>>
  requires detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(Range&& range, T init, Combine&& combine = {}) {
  const auto [first, last] = detail::range_bounds(range);
  std::identity map;
  return detail::reduce_over(first, last, std::move(init), map, combine, 0);
}

}  // namespace teff
