// parallel_reduce: combines what a loop's iterations yield.
#pragma once

#include <teff/detail/loops/tree_reduction.hpp>
#include <teff/detail/platform/ranges.hpp>
#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/loops.hpp>

#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {

template <class T, loop_index Index, class Combine, class Map>
T reduce_over(Index first, Index last, T init, Combine& combine, Map& map, const loop_options& options) {
  if (first == last) return init;
  const std::uint64_t count = loop_distance(first, last);
  const traced_span span(event_kind::loop, name_of<std::remove_const_t<Map>>());
  tree_reduction<T, Index, Map, Combine> reduction(map, combine, options.grain, count);
  return std::invoke(combine, std::move(init), on_workers([&] { return reduction.run(first, count); }));
}

template <class Combine, class T>
concept combines = std::is_invocable_r_v<T, Combine&, T, T>;

}  // namespace detail

// Returns the sum, by `reduce` in the place of +, of init and of transform(i) for all i in [first, last),
// computed in parallel. For iterators, transform(*i) is summed; for a range, transform(x) for each of its
// elements. The order of the arguments is as in std::transform_reduce. An empty loop yields `init`.
//
// Neighbours are combined, in a binary tree over blocks. The tree's shape depends only on the length of the
// loop, on T and on the grain, never on the number of workers or on timing. So a sum of floating-point
// numbers is the same in every run. `reduce` must be associative, up to what the caller accepts as equal. It
// need not commute. But std::plus and std::multiplies of floating-point numbers are known to commute, and 16
// of their partial results are computed side by side, by vector instructions. A result of `transform` is
// converted to T, the type of `init`. T can be moved and assigned to. For several values, T can be a tuple or
// an array.
//
// `options.grain` is the number of elements that are combined in order, one after another; 0: the length
// decides, and the size of T. A `transform` that can't be called with one iteration is called with a whole
// block, as the body of parallel_for is with a part of the loop. Use that for results that are better
// combined in place, as a histogram is. The type of an index is as in parallel_for, exceptions are as in
// join.
//
//   double dot = teff::parallel_reduce(0, n, 0.0, std::plus<>{}, [&](int i) { return x[i] * y[i]; });
template <class First, class Last, class T, class Reduce, class Transform>
  requires detail::loop_body<Transform, detail::index_between<First, Last>> && detail::combines<Reduce, T>
[[nodiscard]] T parallel_reduce(First first, Last last, T init, Reduce&& reduce, Transform&& transform,
                                const loop_options& options = {}) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_reduce");
  return detail::reduce_over(begin, end, std::move(init), reduce, transform, options);
}
template <std::ranges::random_access_range Range, class T, class Reduce, class Transform>
  requires detail::loop_body<Transform, std::ranges::iterator_t<Range>> && detail::combines<Reduce, T>
[[nodiscard]] T parallel_reduce(Range&& range, T init, Reduce&& reduce, Transform&& transform,
                                const loop_options& options = {}) {
  const auto [first, last] = detail::range_bounds(range);
  return detail::reduce_over(first, last, std::move(init), reduce, transform, options);
}

// Combines the elements themselves, as std::reduce does.
//
//   double sum = teff::parallel_reduce(x, 0.0);
//   int most = teff::parallel_reduce(x.begin(), x.end(), 0, [](int a, int b) { return std::max(a, b); });
template <std::random_access_iterator Index, class T, class Reduce = std::plus<>>
  requires detail::combines<Reduce, T>
[[nodiscard]] T parallel_reduce(Index first, std::type_identity_t<Index> last, T init, Reduce&& reduce = {},
                                const loop_options& options = {}) {
  std::identity transform;
  return detail::reduce_over(first, last, std::move(init), reduce, transform, options);
}
template <std::ranges::random_access_range Range, class T, class Reduce = std::plus<>>
  requires detail::combines<Reduce, T>
[[nodiscard]] T parallel_reduce(Range&& range, T init, Reduce&& reduce = {},
                                const loop_options& options = {}) {
  const auto [first, last] = detail::range_bounds(range);
  std::identity transform;
  return detail::reduce_over(first, last, std::move(init), reduce, transform, options);
}

}  // namespace teff
