// parallel_find_if, parallel_any_of and the like: loops that stop when the answer is known.
#pragma once

#include <teff/detail/loops/early_exit.hpp>
#include <teff/detail/platform/ranges.hpp>

#include <concepts>
#include <iterator>
#include <type_traits>

namespace teff {

namespace detail {

template <class Predicate, class Index>
concept loop_predicate = std::predicate<Predicate&, typename iteration_of<Index>::type>;

}  // namespace detail

// Returns the first i in [first, last) for which predicate(i) is true, or `last` if there is none. For
// iterators, predicate(*i) decides; for a range, it returns an iterator to the first matching element, or its
// end.
//
// The result is the first match, no matter which worker finds one sooner. The predicate is called for every
// position before the match, and for some after it that other workers had reached. If it throws at one of
// those, the exception may be thrown although there is a match. The rest is as in parallel_for.
//
//   const int n = teff::parallel_find_if(2, limit, [](int i) { return is_perfect(i); });
template <class First, class Last, class Predicate>
  requires detail::loop_predicate<Predicate, detail::index_between<First, Last>>
[[nodiscard]] auto parallel_find_if(First first, Last last, Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_find_if");
  if (begin == end) return static_cast<detail::index_between<First, Last>>(last);
  return detail::find_first(begin, end, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] std::ranges::borrowed_iterator_t<Range> parallel_find_if(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return detail::find_first(first, last, predicate);
}

// Returns the position of the first element that equals `value`, or the end, as std::find does.
template <std::random_access_iterator It, class T>
[[nodiscard]] It parallel_find(It first, std::type_identity_t<It> last, const T& value) {
  return parallel_find_if(first, last, [&value](const auto& element) { return element == value; });
}
template <std::ranges::random_access_range Range, class T>
[[nodiscard]] std::ranges::borrowed_iterator_t<Range> parallel_find(Range&& range, const T& value) {
  return parallel_find_if(std::forward<Range>(range),
                          [&value](const auto& element) { return element == value; });
}

// Returns whether the predicate is true for some i in [first, last); for iterators and ranges, for some
// element. It is false for an empty loop, as std::any_of is. All workers stop soon after one has found a
// match.
//
//   if (teff::parallel_any_of(pixels, is_broken)) ...
template <class First, class Last, class Predicate>
  requires detail::loop_predicate<Predicate, detail::index_between<First, Last>>
[[nodiscard]] bool parallel_any_of(First first, Last last, Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_any_of");
  return detail::holds_somewhere(begin, end, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] bool parallel_any_of(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return detail::holds_somewhere(first, last, predicate);
}

// Returns whether the predicate is true nowhere, as std::none_of does: true for an empty loop.
template <class First, class Last, class Predicate>
  requires detail::loop_predicate<Predicate, detail::index_between<First, Last>>
[[nodiscard]] bool parallel_none_of(First first, Last last, Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_none_of");
  return !detail::holds_somewhere(begin, end, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] bool parallel_none_of(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return !detail::holds_somewhere(first, last, predicate);
}

// Returns whether the predicate is true everywhere, as std::all_of does: true for an empty loop.
template <class First, class Last, class Predicate>
  requires detail::loop_predicate<Predicate, detail::index_between<First, Last>>
[[nodiscard]] bool parallel_all_of(First first, Last last, Predicate&& predicate) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_all_of");
  return !detail::fails_somewhere(begin, end, predicate);
}
template <std::ranges::random_access_range Range, class Predicate>
  requires detail::loop_predicate<Predicate, std::ranges::iterator_t<Range>>
[[nodiscard]] bool parallel_all_of(Range&& range, Predicate&& predicate) {
  const auto [first, last] = detail::range_bounds(range);
  return !detail::fails_somewhere(first, last, predicate);
}

}  // namespace teff
