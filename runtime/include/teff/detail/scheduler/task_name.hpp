// The name of a task in a trace.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace teff::detail {

// A string literal as a template argument.
template <std::size_t Length>
struct literal {
  char text[Length]{};
  consteval literal(const char (&given)[Length]) {  // NOLINT: meant to be implicit
    for (std::size_t i = 0; i < Length; ++i) text[i] = given[i];
  }
};

// The compiler's spelling of a type, somewhere in the text; type_in() (runtime/src/trace/trace.hpp) cuts it
// out. GCC spells all lambdas of a function alike. The address of the text differs for each type
// (runtime/src/trace/README.md).
template <class T>
[[gnu::visibility("hidden")]] const char* spelling_of() noexcept {
  static constexpr auto text = std::to_array(__PRETTY_FUNCTION__);
  return text.data();
}

// The name of a closure of this type: the name in its type, or the spelling of its type, which says in which
// function or line it stands. Taken in cold code only; costs a string constant a type.
template <class F>
const char* name_of() noexcept {
  if constexpr (requires { F::task_name(); }) {
    return F::task_name();
  } else {
    return spelling_of<F>();
  }
}

// The name of one closure: the name that it carries, or the name of its type.
template <class F>
const char* name_of(const F& closure) noexcept {
  if constexpr (requires { closure.task_name(); }) {
    return closure.task_name();
  } else {
    return name_of<F>();
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

}  // namespace teff::detail
