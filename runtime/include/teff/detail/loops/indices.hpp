// The arithmetic of loops: how many iterations lie between two indices or iterators, and the index that
// follows after some.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/error.hpp>

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff {

// A type that a loop may run over: integers, or random-access iterators.
template <class T>
concept loop_integer =
    std::integral<T> && !std::same_as<std::remove_cv_t<T>, bool> && sizeof(T) <= sizeof(std::uint64_t);

// A position in a loop: an integer or a random-access iterator.
template <class T>
concept loop_index = loop_integer<T> || std::random_access_iterator<T>;

namespace detail {

// Whether elements that are reached by such a reference share memory with their neighbours: the elements of a
// std::vector<bool> are bits of the same bytes. A reference to an element of several ranges has parts.
template <class Reference>
inline constexpr bool shares_memory = std::same_as<Reference, std::vector<bool>::reference>;
template <class... Parts>
inline constexpr bool shares_memory<std::tuple<Parts...>> = (shares_memory<Parts> || ...);
template <class First, class Second>
inline constexpr bool shares_memory<std::pair<First, Second>> = shares_memory<First> || shares_memory<Second>;

}  // namespace detail

// An iterator whose elements several workers may write at the same time: not one of a std::vector<bool>.
template <class T>
concept loop_output = std::random_access_iterator<T> && !detail::shares_memory<std::iter_reference_t<T>>;

namespace detail {

// Whether the difference of two such iterators is wider than a count of iterations, as for std::views::iota
// of long. It is __int128 then, or a class, which std::make_unsigned and older algorithms do not know.
template <class Index>
concept has_wide_difference = std::random_access_iterator<Index> &&
                              sizeof(std::iter_difference_t<Index>) > sizeof(std::uint64_t);

template <loop_index Index>
auto loop_distance(Index first, Index last) {
  if constexpr (std::integral<Index>) {
    using unsigned_index = std::make_unsigned_t<std::common_type_t<Index, int>>;
    return static_cast<unsigned_index>(static_cast<unsigned_index>(last) -
                                       static_cast<unsigned_index>(first));
  } else if constexpr (has_wide_difference<Index>) {
    return static_cast<std::uint64_t>(last - first);
  } else {
    return static_cast<std::make_unsigned_t<std::iter_difference_t<Index>>>(last - first);
  }
}

// `first` and `steps` more. For integers by way of the unsigned ones: half of a range may be more than its
// type holds.
template <loop_index Index, std::unsigned_integral Steps>
Index loop_advance(Index first, Steps steps) {
  if constexpr (std::integral<Index>) {
    using unsigned_index = decltype(loop_distance(first, first));
    return static_cast<Index>(static_cast<unsigned_index>(first) + static_cast<unsigned_index>(steps));
  } else {
    return first + static_cast<std::iter_difference_t<Index>>(steps);
  }
}

// Element `k` of those that begin at `first`.
template <std::random_access_iterator It>
decltype(auto) element_at(It first, std::integral auto k) {
  return first[static_cast<std::iter_difference_t<It>>(k)];
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_negative(const char* loop, const char* which,
                                                                   long long index, const char* other) {
  throw_error(misuse(std::string(loop) + ": the " + which + " index is " + std::to_string(index) +
                     ", and the indices are unsigned, as the " + other +
                     " one is: a signed type for both can count from one to the other"));
}

// The bounds of a loop as a pair of one type, compared by their values; equal if there is nothing to do.
// `lower` and `upper` are what the caller calls them.
template <loop_integer First, loop_integer Last>
auto loop_bounds(First first, Last last, const char* loop, const char* lower = "first",
                 const char* upper = "last") {
  using index = std::common_type_t<First, Last>;
  if (std::cmp_less_equal(+last, +first)) return std::pair(index{}, index{});
  if (!std::in_range<decltype(+index{})>(+first))
    refuse_negative(loop, lower, static_cast<long long>(first), upper);
  return std::pair(static_cast<index>(first), static_cast<index>(last));
}
template <std::random_access_iterator Index, std::convertible_to<Index> Last>
auto loop_bounds(Index first, Last last, const char* /*loop*/) {
  return std::pair<Index, Index>(first, last);
}

// The type of a position between two bounds, which are integers or iterators.
template <class First, class Last>
using index_between = decltype(loop_bounds(std::declval<First>(), std::declval<Last>(), "").first);

// The bounds of a range, as iterators of one type.
template <std::ranges::random_access_range Range>
auto range_bounds(Range& range) {
  const auto first = std::ranges::begin(range);
  return std::pair(first, std::ranges::next(first, std::ranges::end(range)));
}

}  // namespace detail

}  // namespace teff
