// parallel_for and parallel_reduce: loops whose iterations are independent.
#pragma once

#include <teff/detail/fork_join/loops.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace teff {

// What a loop may run over: integers, or random-access iterators.
template <class T>
concept loop_index = std::integral<T> || std::random_access_iterator<T>;

// Calls body(i) for every i in [first, last), in parallel; for iterators, body(*i).
//
// The type of i is common to both bounds (std::common_type): of 0 and a std::size_t, std::size_t. Throws
// misuse if that can't hold `first`, a negative number beside an unsigned one that is greater. Returns when
// all have ended. Iterations that one worker runs are in ascending order. If some throw, one of their
// exceptions is thrown, and iterations that have not begun may be dropped. The body is shared between the
// workers, so calling it must be safe from several threads.
//
//   teff::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
template <std::integral First, std::integral Last, class Body>
void parallel_for(First first, Last last, Body&& body) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_for");
  detail::run_loop(begin, end, body);
}
template <std::random_access_iterator I, class Body>
void parallel_for(I first, std::type_identity_t<I> last, Body&& body) {
  detail::run_loop(first, last, body);
}

// Calls body(x) for every element of a random-access range.
template <std::ranges::random_access_range Range, class Body>
void parallel_for(Range&& range, Body&& body) {
  parallel_for(std::ranges::begin(range),
               std::ranges::next(std::ranges::begin(range), std::ranges::end(range)),
               std::forward<Body>(body));
}

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
