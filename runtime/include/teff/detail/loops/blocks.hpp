// Runs a block of iterations: the plain loop around the body, which the compiler sees whole.
#pragma once

#include <teff/detail/loops/indices.hpp>
#include <teff/detail/platform/ranges.hpp>
#include <teff/named.hpp>

#include <concepts>
#include <functional>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace teff::detail {

// The argument of a body for one iteration: the index, or the element that the iterator points to. Of
// elements that share memory, a constant: workers that write neighbours would lose what others write.
template <loop_index Index>
struct iteration_of {
  using type = Index;
};
template <std::random_access_iterator Index>
struct iteration_of<Index> {
  using type =
      std::conditional_t<loop_output<Index>, std::iter_reference_t<Index>, const std::iter_value_t<Index>&>;
};

// Whether a body may be called with positions, by which it may write.
template <class Index>
inline constexpr bool has_positions = true;
template <std::random_access_iterator Index>
inline constexpr bool has_positions<Index> = loop_output<Index>;

template <class Body, class Index>
concept body_of_iterations = std::invocable<Body&, typename iteration_of<Index>::type>;
template <class Body, class Index>
concept body_of_bounds =
    !body_of_iterations<Body, Index> && has_positions<Index> && std::invocable<Body&, Index, Index>;
template <class Index>
using span_at = std::span<std::remove_reference_t<std::iter_reference_t<Index>>>;
template <class Body, class Index>
concept body_of_spans = !body_of_iterations<Body, Index> && !body_of_bounds<Body, Index> &&
                        std::contiguous_iterator<Index> && std::invocable<Body&, span_at<Index>>;
template <class Body, class Index>
concept body_of_subranges =
    !body_of_iterations<Body, Index> && !body_of_bounds<Body, Index> && !body_of_spans<Body, Index> &&
    loop_output<Index> && std::invocable<Body&, std::ranges::subrange<Index>>;

// The arguments of a loop's body: the first of these that it accepts. One iteration; both bounds of a part of
// the loop; such a part as a span, or as a subrange.
template <class Body, class Index>
concept takes_a_part =
    body_of_bounds<Body, Index> || body_of_spans<Body, Index> || body_of_subranges<Body, Index>;
template <class Body, class Index>
concept loop_body = body_of_iterations<Body, Index> || takes_a_part<Body, Index>;

// Calls it with a part of the loop.
template <class Index, takes_a_part<Index> Body>
decltype(auto) call_with_part(Body& body, Index first, Index last) {
  if constexpr (body_of_bounds<Body, Index>) {
    return std::invoke(body, first, last);
  } else if constexpr (body_of_spans<Body, Index>) {
    return std::invoke(body, span_at<Index>(first, last));
  } else {
    return std::invoke(body, std::ranges::subrange<Index>(first, last));
  }
}

// A trivially copyable body of a few words is run from a copy that no other code can see. So its captures
// stay in registers, also where its iterations write memory. A body that is callable as a constant behaves
// the same.
template <class Body, class... Arguments>
concept runs_from_copy = std::is_trivially_copyable_v<Body> && std::copy_constructible<Body> &&
                         sizeof(Body) <= 128 && std::invocable<const Body&, Arguments...>;
template <class Body, class... Arguments>
using body_at_hand = std::conditional_t<runs_from_copy<Body, Arguments...>, std::remove_const_t<Body>, Body&>;

// The body at hand, to be captured by another closure.
template <class... Arguments, class Body>
auto to_have_at_hand(Body& body) {
  if constexpr (runs_from_copy<Body, Arguments...>) {
    return std::remove_const_t<Body>(body);
  } else {
    return std::ref(body);
  }
}

// Calls the function with the argument of the iteration `at`, and returns what it returns, as an R.
template <class R, loop_index Index>
[[gnu::always_inline]] inline R call_at(auto& function, Index at) {
  if constexpr (std::integral<Index>) {
    return static_cast<R>(std::invoke(function, at));
  } else {
    return static_cast<R>(std::invoke(function, static_cast<typename iteration_of<Index>::type>(*at)));
  }
}

// Blocks of iterations of `body`, the same for all pieces.
template <loop_index Index, class Body>
struct blocks_of {
  Body& body;

  [[nodiscard]] blocks_of piece() const noexcept { return *this; }

  void operator()(Index first, Index last) const {
    if constexpr (takes_a_part<Body, Index>) {
      call_with_part(body, first, last);
    } else {
      body_at_hand<Body, typename iteration_of<Index>::type> at_hand = body;
      for (; first != last; ++first) call_at<void>(at_hand, first);
    }
  }
};

// A body and what makes the state that its calls have at hand.
template <class Make, class Body>
struct stateful_body {
  Make make;
  Body body;
  static const char* task_name() noexcept { return name_of<Body>(); }
};

template <class Body>
inline constexpr bool has_state = false;
template <class Make, class Body>
inline constexpr bool has_state<stateful_body<Make, Body>> = true;

// A body with the state of one piece as its first argument.
template <class State, class Body>
struct body_with_state {
  State& state;
  Body& body;
  template <class... Arguments>
    requires std::invocable<Body&, State&, Arguments...>
  void operator()(Arguments&&... arguments) const {
    std::invoke(body, state, std::forward<Arguments>(arguments)...);
  }
};

template <class Body>
using state_of = std::remove_cvref_t<std::invoke_result_t<decltype(std::declval<Body&>().make)&>>;

// Each piece makes its own state. `Of` makes blocks of a body.
template <class Body, class Of>
struct stateful_blocks {
  Body& body;
  Of of;

  struct one_piece {
    state_of<Body> state;
    Body& body;
    const Of& of;
    void operator()(auto first, auto last) {
      // Clang 14 can't deduce them.
      body_with_state<state_of<Body>, std::remove_reference_t<decltype((body.body))>> with{state, body.body};
      of(with)(first, last);
    }
  };
  [[nodiscard]] one_piece piece() const { return {std::invoke(body.make), body, of}; }
};

// The blocks of `body`, as `of` makes them of one without state.
template <class Body, class Of>
auto blocks_for(Body& body, Of of) {
  if constexpr (has_state<std::remove_const_t<Body>>) {
    return stateful_blocks<Body, Of>{body, of};
  } else {
    return of(body);
  }
}

}  // namespace teff::detail
