// parallel_for and parallel_reduce: loops whose iterations are independent.
#pragma once

#include <teff/join.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>
#include <utility>

namespace teff {

// What a loop may run over: integers, or random-access iterators.
template <class T>
concept loop_index = std::integral<T> || std::random_access_iterator<T>;

namespace detail {

template <loop_index I>
auto loop_distance(I first, I last) {
  if constexpr (std::integral<I>) {
    using unsigned_index = std::make_unsigned_t<std::common_type_t<I, int>>;
    return static_cast<unsigned_index>(static_cast<unsigned_index>(last) -
                                       static_cast<unsigned_index>(first));
  } else {
    return static_cast<std::make_unsigned_t<std::iter_difference_t<I>>>(last - first);
  }
}

// A loop in progress. It runs in order, and gives away half of what is left whenever a thief asks (lazy
// binary splitting: Tzannes et al., 2010); nothing is cut in advance, so that a loop nobody shares costs a
// loop.
template <loop_index I, class Body>
struct splitting_loop {
  Body& body;
  std::atomic<bool> stop{false};  // an iteration threw: pieces that have not begun are dropped

  void run(I first, I last) {
    for (; first != last; ++first) {
      if (self.asked()) [[unlikely]] {
        if (self.asked_to_share() && self.head() != nullptr && loop_distance(first, last) > 1) {
          return split(first, last);
        }
      }
      if constexpr (std::integral<I>) {
        std::invoke(body, first);
      } else {
        std::invoke(body, *first);
      }
    }
  }

  [[gnu::cold, gnu::noinline]] void split(I first, I last) {
    if (stop.load(std::memory_order_relaxed)) return;
    const I middle = static_cast<I>(
        first + static_cast<std::make_signed_t<std::size_t>>((loop_distance(first, last) + 1) / 2));
    try {
      join([this, first, middle] { run(first, middle); },
           as_part_of<Body>([this, middle, last] { run(middle, last); }));
    } catch (...) {
      stop.store(true, std::memory_order_relaxed);
      throw;
    }
  }
};

}  // namespace detail

// Calls body(i) for every i in [first, last), in parallel; for iterators, body(*i).
//
// Returns when all have ended. Iterations that one worker runs are in ascending order. If some throw, one of
// their exceptions is thrown, and iterations that have not begun may be dropped. The body is shared between
// the workers, so calling it must be safe from several threads.
//
//   teff::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
template <loop_index I, class Body>
void parallel_for(I first, std::type_identity_t<I> last, Body&& body) {
  if constexpr (std::integral<I>) {
    if (last < first) return;
  }
  detail::splitting_loop<I, std::remove_reference_t<Body>> loop{body};
  const detail::traced_span span(detail::activity::loop, detail::name_of<std::remove_cvref_t<Body>>());
  loop.run(first, last);
}

// Calls body(x) for every element of a random-access range.
template <std::ranges::random_access_range Range, class Body>
void parallel_for(Range&& range, Body&& body) {
  parallel_for(std::ranges::begin(range),
               std::ranges::next(std::ranges::begin(range), std::ranges::end(range)),
               std::forward<Body>(body));
}

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
  const std::size_t left_blocks = ((count + block - 1) / block + 1) / 2;
  const I middle = static_cast<I>(first + static_cast<I>(left_blocks * block));
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
// combines; 0 chooses (length / 1024, at least 1). Exceptions: as join.
//
//   double dot = teff::parallel_reduce(0, n, 0.0, [&](int i) { return x[i] * y[i]; }, std::plus<>{});
template <std::integral I, class T, class Map, class Combine>
[[nodiscard]] T parallel_reduce(I first, std::type_identity_t<I> last, T identity, Map&& map,
                                Combine&& combine, std::size_t block = 0) {
  if (last <= first) return identity;
  constexpr std::size_t blocks_by_default = 1024;
  if (block == 0) block = 1 + (detail::loop_distance(first, last) - 1) / blocks_by_default;
  return detail::reduce_tree<T>(first, last, identity, map, combine, block);
}

}  // namespace teff
