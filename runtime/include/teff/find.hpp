// parallel_find_if, parallel_any_of and their kin: loops that end early.
#pragma once

#include <teff/detail/loops/early_exit.hpp>

#include <concepts>
#include <functional>
#include <iterator>
#include <ranges>
#include <type_traits>

namespace teff {

namespace detail {

template <class Predicate, class I>
concept loop_predicate = std::predicate<Predicate&, typename iteration_of<I>::type>;

}  // namespace detail

// The first i in [first, last) of which predicate(i) holds, else `last`; for iterators, of which
// predicate(*i) does; for a range, an iterator to the first element.
//
// The first one, whoever was quicker. The predicate is called for all before it, and for some after it, at
// whose position others were when it was found. Where it throws, an exception may be thrown although it holds
// of something earlier. The rest is as in parallel_for.
//
//   const int n = teff::parallel_find_if(2, limit, [](int i) { return is_perfect(i); });
template <std::integral First, std::integral Last, class Predicate>
  requires detail::loop_predicate<Predicate, std::common_type_t<First, Last>>
[[nodiscard]] std::common_type_t<First, Last> parallel_find_if(First first, Last last,
                                                               Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_find_if");
  if (begin == end) return static_cast<std::common_type_t<First, Last>>(last);
  return detail::find_first(begin, end, predicate);
}
template <std::random_access_iterator I, class Predicate>
  requires detail::loop_predicate<Predicate, I>
[[nodiscard]] I parallel_find_if(I first, std::type_identity_t<I> last, Predicate&& predicate) {
  return detail::find_first(first, last, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] std::ranges::borrowed_iterator_t<Range> parallel_find_if(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return detail::find_first(first, last, predicate);
}

// The first element that equals `value`, as std::find.
template <std::random_access_iterator I, class T>
[[nodiscard]] I parallel_find(I first, std::type_identity_t<I> last, const T& value) {
  return parallel_find_if(first, last, [&value](const auto& element) { return element == value; });
}
template <std::ranges::random_access_range Range, class T>
[[nodiscard]] std::ranges::borrowed_iterator_t<Range> parallel_find(Range&& range, const T& value) {
  return parallel_find_if(std::forward<Range>(range),
                          [&value](const auto& element) { return element == value; });
}

// Whether the predicate holds for some i in [first, last); for iterators and ranges, of some element. As
// std::any_of: false of an empty loop. All workers stop soon after one has found the answer.
//
//   if (teff::parallel_any_of(pixels, is_broken)) ...
template <std::integral First, std::integral Last, class Predicate>
  requires detail::loop_predicate<Predicate, std::common_type_t<First, Last>>
[[nodiscard]] bool parallel_any_of(First first, Last last, Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_any_of");
  return detail::holds_somewhere(begin, end, predicate);
}
template <std::random_access_iterator I, class Predicate>
  requires detail::loop_predicate<Predicate, I>
[[nodiscard]] bool parallel_any_of(I first, std::type_identity_t<I> last, Predicate&& predicate) {
  return detail::holds_somewhere(first, last, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] bool parallel_any_of(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return detail::holds_somewhere(first, last, predicate);
}

// Whether it holds nowhere, as std::none_of.
template <std::integral First, std::integral Last, class Predicate>
  requires detail::loop_predicate<Predicate, std::common_type_t<First, Last>>
[[nodiscard]] bool parallel_none_of(First first, Last last, Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_none_of");
  return !detail::holds_somewhere(begin, end, predicate);
}
template <std::random_access_iterator I, class Predicate>
  requires detail::loop_predicate<Predicate, I>
[[nodiscard]] bool parallel_none_of(I first, std::type_identity_t<I> last, Predicate&& predicate) {
  return !detail::holds_somewhere(first, last, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] bool parallel_none_of(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return !detail::holds_somewhere(first, last, predicate);
}

// Whether it holds everywhere, as std::all_of.
template <std::integral First, std::integral Last, class Predicate>
  requires detail::loop_predicate<Predicate, std::common_type_t<First, Last>>
[[nodiscard]] bool parallel_all_of(First first, Last last, Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_all_of");
  return !detail::fails_somewhere(begin, end, predicate);
}
template <std::random_access_iterator I, class Predicate>
  requires detail::loop_predicate<Predicate, I>
[[nodiscard]] bool parallel_all_of(I first, std::type_identity_t<I> last, Predicate&& predicate) {
  return !detail::fails_somewhere(first, last, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] bool parallel_all_of(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return !detail::fails_somewhere(first, last, predicate);
}

}  // namespace teff
