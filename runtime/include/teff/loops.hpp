// parallel_for: loops whose iterations are independent.
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/loops/blocks.hpp>
#include <teff/detail/loops/indices.hpp>
#include <teff/detail/loops/splitting_loop.hpp>
#include <teff/detail/platform/ranges.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace teff {

// Options of a loop.
struct loop_options {
  // How many iterations run as one block. Between blocks a worker looks whether another worker wants a share.
  // A share is at least one block. With 0, a block is as many iterations as take half a microsecond, and up
  // to four microseconds in a long loop, measured while the loop runs.
  std::size_t grain = 0;
};

// Makes a loop body with a state, such as a buffer that is too expensive to make for each iteration: make()
// makes a state for each piece of the loop. The body receives the state by reference, before the iteration.
//
//   teff::parallel_for(0, n, teff::with_state(
//       [] { return std::vector<double>(1000); },
//       [&](std::vector<double>& scratch, int i) { solve(i, scratch); }));
//
// A piece is what one worker runs without a break. A loop that no other worker shares is one piece; each
// share given away is one more, stolen or not. No two calls use one state at the same time. One state for
// each worker would not be safe: a body that waits for an inner loop may run another piece of the outer loop
// meanwhile.
template <class Make, class Body>
[[nodiscard]] auto with_state(Make&& make, Body&& body) {
  return detail::stateful_body<std::decay_t<Make>, std::decay_t<Body>>{std::forward<Make>(make),
                                                                       std::forward<Body>(body)};
}

namespace detail {

// The body that is called, if it has a state.
template <class Body>
struct called_body {
  using type = Body;
};
template <class Body>
  requires has_state<std::remove_cv_t<Body>>
struct called_body<Body> {
  using type = body_with_state<state_of<Body>, decltype(std::declval<Body&>().body)>;
};

template <class Body, class Index>
concept body_of_loop = loop_body<typename called_body<std::remove_reference_t<Body>>::type, Index>;

// Runs the loop [first, last) of the body, by blocks that `of` makes of a body without state.
template <loop_index Index, class Body, class Of>
void run_body(Index first, Index last, Body& body, const loop_options& options, Of of) {
  run_loop<std::remove_const_t<Body>>(first, last, blocks_for(body, of), options.grain);
}
template <loop_index Index, class Body>
void run_body(Index first, Index last, Body& body, const loop_options& options) {
  run_body(first, last, body, options, []<class B>(B& each) { return blocks_of<Index, B>{each}; });
}

// Iteration k is that of index `origin` + k * `step`.
template <loop_integer Index, class Body>
struct stepping_blocks {
  Index origin;
  std::uint64_t step;
  Body& body;

  [[nodiscard]] stepping_blocks piece() const noexcept { return *this; }
  void operator()(std::uint64_t first, std::uint64_t last) const {
    body_at_hand<Body, Index> at_hand = body;
    for (; first < last; ++first) std::invoke(at_hand, loop_advance(origin, first * step));
  }
};

}  // namespace detail

// Calls body(i) for every i in [first, last), in parallel. For iterators, calls body(*i); for a range,
// body(x) with each of its elements.
//
// Any worker may run an iteration; each worker runs its own in ascending order. The call returns when all
// have ended. On a thread that is no worker, the loop runs within default_runtime(). If iterations throw, one
// of their exceptions is thrown, and iterations that have not begun may be dropped. The workers share the
// body, so it must be safe to call it on several threads; a body that is trivially copyable may run from
// copies.
//
// The type of i is the common type of both bounds (std::common_type): for 0 and a std::size_t, std::size_t.
// Throws misuse if that type can't hold `first`: a negative number where `last` is unsigned. A negative
// `last` where `first` is unsigned lies before it: nothing runs.
//
// If the body can't be called with one iteration, the loop calls it with a part of the loop, and chooses the
// length of the part: body(first, last), two indices or iterators. For iterators and ranges, it may also be
// body(std::span) or body(std::ranges::subrange), which clang before 16 can't compile with GCC's library. The
// first form that fits counts: a generic body of one argument is called with one iteration.
//
// Elements of a std::vector<bool> are bits of the same bytes, and two workers that write neighbours would
// lose one of them. So a body receives such an element as a constant, never a part of the range; to write,
// use a range of char.
//
//   teff::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
//   teff::parallel_for(pixels, [](std::span<pixel> some) { brighten(some.data(), some.size()); });
//   teff::parallel_for(files, [&](const file& each) { index(each); }, {.grain = 1});
template <class First, class Last, class Body>
  requires detail::body_of_loop<Body, detail::index_between<First, Last>>
void parallel_for(First first, Last last, Body&& body, const loop_options& options = {}) {
  const auto [begin, end] = detail::loop_bounds(first, last, "teff::parallel_for");
  detail::run_body(begin, end, body, options);
}
template <std::ranges::random_access_range Range, class Body>
  requires detail::body_of_loop<Body, std::ranges::iterator_t<Range>>
void parallel_for(Range&& range, Body&& body, const loop_options& options = {}) {
  const auto [first, last] = detail::range_bounds(range);
  detail::run_body(first, last, body, options);
}

// The same for first, first + step, first + 2 * step and so on, as long as they lie before `last`. With a
// negative step, they lie after it. The body is called with one iteration. Throws misuse if the step is 0.
//
// Unsigned indices can go down to 1 only: no `last` lies below 0. A `last` of -1 is misuse, for a `first`
// that is unsigned; give both a signed type.
//
//   teff::parallel_for(0, n, 2, [&](int even) { x[even] = 0; });
//   teff::parallel_for(n - 1, -1, -1, [&](int i) { visit(i); });
template <loop_integer First, loop_integer Last, loop_integer Step, class Body>
  requires detail::body_of_iterations<typename detail::called_body<std::remove_reference_t<Body>>::type,
                                      std::common_type_t<First, Last>>
void parallel_for(First first, Last last, Step step, Body&& body, const loop_options& options = {}) {
  if (step == 0) detail::throw_error(misuse("teff::parallel_for: the step is 0"));
  const bool down = std::cmp_less(+step, 0);
  const auto bounds = down ? detail::loop_bounds(last, first, "teff::parallel_for", "last", "first")
                           : detail::loop_bounds(first, last, "teff::parallel_for");
  if (bounds.first == bounds.second) return;
  const std::uint64_t length = detail::loop_distance(bounds.first, bounds.second);
  const auto by = static_cast<std::uint64_t>(step);
  const auto origin = down ? bounds.second : bounds.first;
  detail::run_body(std::uint64_t{0}, (length - 1) / (down ? 0 - by : by) + 1, body, options,
                   [origin, by]<class B>(B& each) {
                     return detail::stepping_blocks<std::remove_const_t<decltype(origin)>, B>{origin, by,
                                                                                              each};
                   });
}

}  // namespace teff
