// A reduction by a binary tree over blocks. The tree's shape follows from the number of elements alone.
#pragma once

#include <teff/detail/loops/blocks.hpp>
#include <teff/detail/loops/indices.hpp>
#include <teff/detail/loops/pace.hpp>
#include <teff/detail/loops/splitting_loop.hpp>
#include <teff/join.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace teff::detail {

// Of `count` elements, how many each of so many blocks has at most.
inline std::uint64_t share_of(std::uint64_t count, std::uint64_t blocks) noexcept {
  return count / blocks + (count % blocks != 0);
}

// The default length of a block: so many elements that the tree costs little beside them. It is longer for
// values that take long to combine, of `bytes` each. There are at least some hundred blocks, and at most
// 1024.
inline std::uint64_t usual_block(std::uint64_t count, std::size_t bytes = sizeof(double)) noexcept {
  const auto enough = std::max<std::uint64_t>(512, std::uint64_t{16} * bytes);
  return std::max<std::uint64_t>({share_of(count, 1024), std::min(enough, share_of(count, 128)), 1});
}

// The default length of a block that can be shared within.
inline constexpr std::uint64_t divisible_block = 512;
inline std::uint64_t usual_divisible_block(std::uint64_t count) noexcept {
  return std::max(divisible_block, share_of(count, 1024));
}

// Function objects of the standard library that are known to commute.
template <class Combine>
inline constexpr bool commutes = false;
template <class T>
inline constexpr bool commutes<std::plus<T>> = true;
template <class T>
inline constexpr bool commutes<std::multiplies<T>> = true;

// map(i) for each i, combined: within a block in order, and then by a tree over the blocks.
template <class T, loop_index Index, class Map, class Combine>
class tree_reduction {
 public:
  // `block`: 0: the number of elements decides.
  tree_reduction(Map& map, Combine& combine, std::uint64_t block, std::uint64_t count) noexcept
      : map_(map),
        combine_(combine),
        pace_(pace_of<Map>(count)),
        block_(block != 0  ? block
               : has_lanes ? usual_divisible_block(count)
                           : usual_block(count, sizeof(T))) {}

  // Of `count` elements, at least one.
  T run(Index first, std::uint64_t count) {
    loop_pace<> pace(pace_);
    T value = reduce(first, count, pace);
    pace.tell(pace_);
    return value;
  }

 private:
  // Several sums side by side: a compiler may not do so by itself where the order shows in the last bit. A
  // map of parts makes a block's value by itself.
  static constexpr bool has_lanes =
      std::is_arithmetic_v<T> && commutes<std::remove_const_t<Combine>> && !takes_a_part<Map, Index>;
  using lane = std::uint8_t;  // fits every index
  static constexpr lane lanes = 16;

  T reduce(Index first, std::uint64_t count, loop_pace<>& pace) {
    if (count <= block_) {
      const bool may_be_long = count > static_cast<std::uint64_t>(pace.block()) && count <= divisible_block;
      T value = may_be_long ? shared_block(first, count) : block(first, count);
      pace.ran(count);
      return value;
    }
    const auto blocks = 1 + (count - 1) / block_;
    const auto left = (blocks / 2 + blocks % 2) * block_;
    if (pace.wants_a_share(count)) [[unlikely]]
      return share(first, left, count - left, pace);
    T value = reduce(first, left, pace);
    return std::invoke(combine_, std::move(value), reduce(loop_advance(first, left), count - left, pace));
  }

  [[gnu::noinline]] T share(Index first, std::uint64_t left, std::uint64_t right, loop_pace<>& pace) {
    auto [value, other] = join(
        [&, this] { return reduce(first, left, pace); },
        as_part_of<Map>([this, middle = loop_advance(first, left), right] { return run(middle, right); }));
    return std::invoke(combine_, std::move(value), std::move(other));
  }

  // A block of iterations that may be long: it has the same value, but its iterations are a loop.
  T shared_block(Index first, std::uint64_t count) {
    if constexpr (has_lanes) {
      std::array<T, divisible_block> values;
      fill(values.data(), first, count);
      const auto taken = [&](std::uint64_t i) { return values[i]; };
      return fold(taken, std::uint64_t{0}, count);
    } else {
      return block(first, count);
    }
  }
  [[gnu::noinline]] void fill(T* values, Index first, std::uint64_t count) {
    auto keep = [=, this](std::uint64_t i) { values[i] = call_at<T>(map_, loop_advance(first, i)); };
    run_loop<std::remove_const_t<Map>>(std::uint64_t{0}, count,
                                       blocks_of<std::uint64_t, decltype(keep)>{keep}, 0);
  }

  T block(Index first, std::uint64_t count) {
    if constexpr (takes_a_part<Map, Index>) {
      return call_with_part(map_, first, loop_advance(first, count));
    } else {
      body_at_hand<Map, typename iteration_of<Index>::type> map = map_;
      return fold(map, first, loop_advance(first, count));
    }
  }

  template <class At>
  T fold(auto& map, At first, At last) {
    body_at_hand<Combine, T, T> combine = combine_;
    if constexpr (has_lanes) {
      if (loop_distance(first, last) >= 2 * lanes) return fold_in_lanes(map, combine, first, last);
    }
    T sum = call_at<T>(map, first);
    for (++first; first != last; ++first) {
      sum = std::invoke(combine, std::move(sum), call_at<T>(map, first));
    }
    return sum;
  }

  template <class At>
  static T fold_in_lanes(auto& map, auto& combine, At first, At last) {
    std::array<T, lanes> sums;
    for (lane i = 0; i < lanes; ++i) sums[i] = call_at<T>(map, static_cast<At>(first + i));
    for (first += lanes; loop_distance(first, last) >= lanes; first += lanes) {
      for (lane i = 0; i < lanes; ++i)
        sums[i] = combine(sums[i], call_at<T>(map, static_cast<At>(first + i)));
    }
    const auto rest = static_cast<lane>(loop_distance(first, last));
    // The second bound, which always holds, tells the compiler that no lane beyond the last is meant.
    for (lane i = 0; i < rest && i < lanes; ++i)
      sums[i] = combine(sums[i], call_at<T>(map, static_cast<At>(first + i)));
    for (lane half = lanes / 2; half > 0; half /= 2) {
      for (lane i = 0; i < half; ++i) sums[i] = combine(sums[i], sums[i + half]);
    }
    return sums[0];
  }

  Map& map_;
  Combine& combine_;
  remembered_pace& pace_;
  std::uint64_t block_;
};

}  // namespace teff::detail
