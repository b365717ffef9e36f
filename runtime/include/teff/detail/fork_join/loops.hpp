// Loops in progress: a range that is halved when a thief asks, and a reduction over a tree of blocks. `I` is
// a loop_index.
#pragma once

#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>
#include <teff/join.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <type_traits>
#include <utility>

namespace teff::detail {

template <class I>
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
template <class I, std::unsigned_integral Steps>
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
template <class I, class Body>
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

template <class I, class Body>
void run_loop(I first, I last, Body& body) {
  splitting_loop<I, Body> loop{body};
  const traced_span span(event_kind::loop, name_of<std::remove_cv_t<Body>>());
  loop.run(first, last);
}

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

}  // namespace teff::detail
