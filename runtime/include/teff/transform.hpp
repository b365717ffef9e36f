// parallel_transform: writes a function of each element, elsewhere or in its place.
#pragma once

#include <teff/detail/platform/ranges.hpp>
#include <teff/loops.hpp>

#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {

// Writes to out[k] for k in [0, count) what value(k) is.
template <class Op, loop_output Out, class Value>
Out write_each(std::uint64_t count, Out out, const Value& value) {
  auto body = [out, value](std::uint64_t k) { out[static_cast<std::iter_difference_t<Out>>(k)] = value(k); };
  run_loop<std::remove_cvref_t<Op>>(std::uint64_t{0}, count, blocks_of<std::uint64_t, decltype(body)>{body},
                                    0);
  return out + static_cast<std::iter_difference_t<Out>>(count);
}

template <std::random_access_iterator It>
decltype(auto) element_at(It first, std::uint64_t k) {
  return first[static_cast<std::iter_difference_t<It>>(k)];
}

}  // namespace detail

// Writes out[k] = op(first[k]) for all elements; with two inputs, op(first[k], second[k]) for as many as the
// first has. Returns the end of what was written. As in std::transform, the output may be an input. The rest
// is as in parallel_for.
//
//   teff::parallel_transform(x, y, z.begin(), [a](double x, double y) { return a * x + y; });
template <std::random_access_iterator It, loop_output Out, class Op>
  requires std::invocable<Op&, std::iter_reference_t<It>>
Out parallel_transform(It first, std::type_identity_t<It> last, Out out, Op&& op) {
  return detail::write_each<Op>(
      detail::loop_distance(first, last), out,
      [first, at_hand = detail::to_have_at_hand<std::iter_reference_t<It>>(op)](std::uint64_t k) {
        return std::invoke(at_hand, detail::element_at(first, k));
      });
}
template <std::random_access_iterator It, std::random_access_iterator J, loop_output Out, class Op>
  requires std::invocable<Op&, std::iter_reference_t<It>, std::iter_reference_t<J>>
Out parallel_transform(It first, std::type_identity_t<It> last, J second, Out out, Op&& op) {
  return detail::write_each<Op>(
      detail::loop_distance(first, last), out,
      [first, second,
       at_hand = detail::to_have_at_hand<std::iter_reference_t<It>, std::iter_reference_t<J>>(op)](
          std::uint64_t k) {
        return std::invoke(at_hand, detail::element_at(first, k), detail::element_at(second, k));
      });
}
template <std::ranges::random_access_range Range, loop_output Out, class Op>
  requires std::invocable<Op&, std::ranges::range_reference_t<Range>>
Out parallel_transform(Range&& range, Out out, Op&& op) {
  const auto [first, last] = detail::range_bounds(range);
  return parallel_transform(first, last, out, op);
}
template <std::ranges::random_access_range Range, std::ranges::random_access_range Other, loop_output Out,
          class Op>
  requires std::invocable<Op&, std::ranges::range_reference_t<Range>, std::ranges::range_reference_t<Other>>
Out parallel_transform(Range&& range, Other&& other, Out out, Op&& op) {
  const auto [first, last] = detail::range_bounds(range);
  return parallel_transform(first, last, std::ranges::begin(other), out, op);
}

}  // namespace teff
