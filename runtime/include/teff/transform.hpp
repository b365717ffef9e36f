// parallel_transform: writes a function of each element, elsewhere or in its place.
#pragma once

#include <teff/detail/platform/ranges.hpp>
#include <teff/loops.hpp>

#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>

namespace teff {

namespace detail {

// Writes op(in[k]...) to out[k] for k in [0, count).
template <class Op, loop_output Out, std::random_access_iterator... In>
Out transform_over(std::uint64_t count, Out out, Op& op, In... in) {
  auto body = [=, at_hand = to_have_at_hand<std::iter_reference_t<In>...>(op)](std::uint64_t k) {
    element_at(out, k) = std::invoke(at_hand, element_at(in, k)...);
  };
  run_loop<std::remove_const_t<Op>>(std::uint64_t{0}, count, blocks_of<std::uint64_t, decltype(body)>{body},
                                    0);
  return loop_advance(out, count);
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
  return detail::transform_over(detail::loop_distance(first, last), out, op, first);
}
template <std::random_access_iterator It, std::random_access_iterator J, loop_output Out, class Op>
  requires std::invocable<Op&, std::iter_reference_t<It>, std::iter_reference_t<J>>
Out parallel_transform(It first, std::type_identity_t<It> last, J second, Out out, Op&& op) {
  return detail::transform_over(detail::loop_distance(first, last), out, op, first, second);
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
