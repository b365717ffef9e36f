// parallel_for and parallel_reduce: loops whose iterations are independent.
#pragma once

#include <teff/error.hpp>
#include <teff/join.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <ranges>
#include <string>
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

// `first` and `steps` more. For integers by way of the unsigned ones: half of a range may be more than its
// type holds.
template <loop_index I, std::unsigned_integral Steps>
I loop_advance(I first, Steps steps) {
  if constexpr (std::integral<I>) {
    using unsigned_index = decltype(loop_distance(first, first));
    return static_cast<I>(static_cast<unsigned_index>(first) + static_cast<unsigned_index>(steps));
  } else {
    return first + static_cast<std::iter_difference_t<I>>(steps);
  }
}

// The bounds of a loop as a pair of one type, compared by their values; equal if there is nothing to do.
template <std::integral First, std::integral Last>
auto loop_bounds(First first, Last last, const char* loop) {
  using index = std::common_type_t<First, Last>;
  if constexpr (std::same_as<First, Last>) {
    return last < first ? std::pair(first, first) : std::pair(first, last);
  } else {
    if (std::cmp_less_equal(+last, +first)) return std::pair(index{}, index{});
    if (!std::in_range<decltype(+index{})>(+first)) {
      throw misuse(std::string(loop) + ": the first index is negative, and the type of the last unsigned");
    }
    return std::pair(static_cast<index>(first), static_cast<index>(last));
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
    const auto count = loop_distance(first, last);
    const I middle = loop_advance(first, count / 2 + count % 2);
    try {
      join([this, first, middle] { run(first, middle); },
           as_part_of<Body>([this, middle, last] { run(middle, last); }));
    } catch (...) {
      stop.store(true, std::memory_order_relaxed);
      throw;
    }
  }
};

template <loop_index I, class Body>
void run_loop(I first, I last, Body& body) {
  splitting_loop<I, Body> loop{body};
  const traced_span span(event_kind::loop, name_of<std::remove_cv_t<Body>>());
  loop.run(first, last);
}

}  // namespace detail

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
