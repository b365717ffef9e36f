// named: what a task is called in a trace.
#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {

// A string literal as a template argument.
template <std::size_t Length>
struct literal {
  char text[Length]{};
  consteval literal(const char (&given)[Length]) {  // NOLINT: meant to be implicit
    for (std::size_t i = 0; i < Length; ++i) text[i] = given[i];
  }
};

// The compiler's spelling of a type, somewhere in the text; a trace_file cuts it out
// (runtime/src/trace/trace.cpp).
template <class T>
const char* spelling_of() noexcept {
  return __PRETTY_FUNCTION__;
}

// What a closure of this type is called: its own name, or the spelling of its type, which says in which
// function or line it stands. Taken in cold code only; costs a string constant a type.
template <class F>
const char* name_of() noexcept {
  if constexpr (requires { F::task_name(); }) {
    return F::task_name();
  } else {
    return spelling_of<F>();
  }
}

// `F` under the name of `Whole`: for closures of the library that carry out a part of the user's.
template <class Whole, class F>
struct part_of : F {
  static const char* task_name() noexcept { return name_of<Whole>(); }
};
template <class Whole, class F>
part_of<Whole, F> as_part_of(F part) noexcept {
  return {std::move(part)};
}

}  // namespace detail

// A closure with a name: what named() returns. The name is part of its type, so it costs nothing to carry.
template <detail::literal Name, class F>
struct named_task {
  F function;

  template <class... Arguments>
  decltype(auto) operator()(Arguments&&... arguments)
    requires std::is_invocable_v<F&, Arguments...>
  {
    return std::invoke(function, std::forward<Arguments>(arguments)...);
  }
  template <class... Arguments>
  decltype(auto) operator()(Arguments&&... arguments) const
    requires std::is_invocable_v<const F&, Arguments...>
  {
    return std::invoke(function, std::forward<Arguments>(arguments)...);
  }
  static const char* task_name() noexcept { return Name.text; }
};

// `f` under a name, wherever libteff takes a closure: join, spawn, parallel_for, run. Traces (TEFF_TRACE)
// show the name; without one they show the function or line in which the closure stands.
//
//   s.spawn(teff::named<"row">([&, i] { sum_row(i); }));
template <detail::literal Name, class F>
[[nodiscard]] named_task<Name, std::decay_t<F>> named(F&& f) {
  return {std::forward<F>(f)};
}

}  // namespace teff
