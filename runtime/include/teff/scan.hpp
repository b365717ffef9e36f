// parallel_inclusive_scan and parallel_exclusive_scan: prefix sums.
#pragma once

#include <teff/detail/loops/chunked_scan.hpp>
#include <teff/detail/platform/ranges.hpp>
#include <teff/detail/scheduler/on_workers.hpp>

#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {

template <bool Inclusive, class T, std::random_access_iterator It, loop_output Out, class Op>
Out scan_over(It first, It last, Out out, Op& op, std::optional<T> init) {
  if (first == last) return out;
  const std::uint64_t count = loop_distance(first, last);
  const traced_span span(event_kind::loop, name_of<std::remove_const_t<Op>>());
  on_workers([&] { chunked_scan<Inclusive, T, It, Out, Op>(first, count, out, op).run(std::move(init)); });
  return loop_advance(out, count);
}

}  // namespace detail

// Writes out[k] = first[0] + ... + first[k], with op in the place of +; with `init`, init + first[0] + ... +
// first[k]. Returns the end of what was written. As for std::inclusive_scan, op must be associative, and the
// output may be the input.
//
// A worker that nobody helps makes one pass over the elements. Workers that help add up elements ahead of it,
// whose results are then written in a second pass. Sums of floating-point numbers are bracketed by chunks
// whose length depends only on the number of elements, so they are the same on any number of workers.
// Exceptions are as in parallel_for; the output is then unspecified.
//
//   teff::parallel_inclusive_scan(sizes, ends.begin());
template <std::random_access_iterator It, loop_output Out, class Op = std::plus<>>
Out parallel_inclusive_scan(It first, std::type_identity_t<It> last, Out out, Op&& op = {}) {
  return detail::scan_over<true, std::iter_value_t<It>>(first, last, out, op, std::nullopt);
}
template <std::random_access_iterator It, loop_output Out, class Op, class T>
Out parallel_inclusive_scan(It first, std::type_identity_t<It> last, Out out, Op&& op, T init) {
  return detail::scan_over<true, T>(first, last, out, op, std::optional<T>(std::move(init)));
}
template <std::ranges::random_access_range Range, loop_output Out, class Op = std::plus<>>
Out parallel_inclusive_scan(Range&& range, Out out, Op&& op = {}) {
  const auto [first, last] = detail::range_bounds(range);
  return parallel_inclusive_scan(first, last, out, op);
}
template <std::ranges::random_access_range Range, loop_output Out, class Op, class T>
Out parallel_inclusive_scan(Range&& range, Out out, Op&& op, T init) {
  const auto [first, last] = detail::range_bounds(range);
  return parallel_inclusive_scan(first, last, out, op, std::move(init));
}

// Writes out[k] = init + first[0] + ... + first[k - 1]: out[0] is `init`, as in std::exclusive_scan. The rest
// is as in parallel_inclusive_scan.
//
//   teff::parallel_exclusive_scan(sizes, begins.begin(), 0L);
template <std::random_access_iterator It, loop_output Out, class T, class Op = std::plus<>>
Out parallel_exclusive_scan(It first, std::type_identity_t<It> last, Out out, T init, Op&& op = {}) {
  return detail::scan_over<false, T>(first, last, out, op, std::optional<T>(std::move(init)));
}
template <std::ranges::random_access_range Range, loop_output Out, class T, class Op = std::plus<>>
Out parallel_exclusive_scan(Range&& range, Out out, T init, Op&& op = {}) {
  const auto [first, last] = detail::range_bounds(range);
  return parallel_exclusive_scan(first, last, out, std::move(init), op);
}

}  // namespace teff
