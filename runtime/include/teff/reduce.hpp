// parallel_reduce: what a loop's iterations yield, combined.
#pragma once

#include <teff/detail/loops/tree_reduction.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {

template <class T, loop_index I, class Map, class Combine>
T reduce_over(I first, I last, T init, Map& map, Combine& combine, std::size_t block) {
  if (first == last) return init;
  const std::uint64_t count = loop_distance(first, last);
  const traced_span span(event_kind::loop, name_of<std::remove_const_t<Map>>());
  tree_reduction<T, I, Map, Combine> reduction(map, combine, block != 0 ? block : usual_block(count));
  return std::invoke(combine, std::move(init), reduction.run(first, count));
}

template <class Combine, class T>
concept combines = std::is_invocable_r_v<T, Combine&, T, T>;

}  // namespace detail

// combine(init, the combination of map(i) for all i in [first, last)), in parallel; for iterators, of
// map(*i); for a range, of map(x) with each of its elements. An empty loop yields `init`.
//
// The combination is that of neighbours, as a binary tree over blocks. Its shape depends on the length of the
// loop and on `block` only, never on the number of workers or on who was quicker: a sum of floating-point
// numbers is the same in every run. `combine` must be associative, up to what the caller accepts as equal. It
// need not commute; of std::plus and std::multiplies of floating-point numbers it is used that they do: 16
// sums side by side, which processors add up at once. What map yields is converted to T, the type of `init`,
// which can be a tuple or an array for several values.
//
// `block` is the number of elements that are combined in order, one after another; 0 chooses by the length. A
// map that can't be called with one iteration is called with whole blocks, as the body of parallel_for is
// with parts: for what is better combined in place, as a histogram. The type of an index: as parallel_for.
// Exceptions: as join.
//
//   double dot = teff::parallel_reduce(0, n, 0.0, [&](int i) { return x[i] * y[i]; }, std::plus<>{});
template <std::integral First, std::integral Last, class T, class Map, class Combine>
  requires detail::loop_body<Map, std::common_type_t<First, Last>> && detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(First first, Last last, T init, Map&& map, Combine&& combine,
                                std::size_t block = 0) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_reduce");
  return detail::reduce_over(begin, end, std::move(init), map, combine, block);
}
template <std::random_access_iterator I, class T, class Map, class Combine>
  requires detail::loop_body<Map, I> && detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(I first, std::type_identity_t<I> last, T init, Map&& map, Combine&& combine,
                                std::size_t block = 0) {
  return detail::reduce_over(first, last, std::move(init), map, combine, block);
}
template <std::ranges::random_access_range Range, class T, class Map, class Combine>
  requires detail::loop_body<Map, std::ranges::iterator_t<Range>> && detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(Range&& range, T init, Map&& map, Combine&& combine, std::size_t block = 0) {
  const auto [first, last] = detail::range_bounds(range);
  return detail::reduce_over(first, last, std::move(init), map, combine, block);
}

// The same of the elements themselves, as std::reduce.
//
//   double sum = teff::parallel_reduce(x, 0.0);
//   int most = teff::parallel_reduce(x.begin(), x.end(), 0, [](int a, int b) { return std::max(a, b); });
template <std::random_access_iterator I, class T, class Combine = std::plus<>>
  requires detail::combines<Combine, T>
[[nodiscard]] T parallel_reduce(I first, std::type_identity_t<I> last, T init, Combine&& combine = {}) {
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
