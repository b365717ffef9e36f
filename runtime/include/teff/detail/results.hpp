// The results of closures, as values that can be kept: a closure may return void or a reference.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace teff::detail {

template <class F>
inline constexpr bool yields_void = std::is_void_v<std::invoke_result_t<F&&>>;

// A fold with a name: GCC 14 refuses one inside an alias that a lambda uses.
template <class... F>
inline constexpr bool all_yield_void = (yields_void<F> && ...);

// The result of a closure: its value, or monostate for void.
template <class F>
using value_t = std::conditional_t<yields_void<F>, std::monostate, std::invoke_result_t<F&&>>;

template <class F>
value_t<F> value_of(std::remove_reference_t<F>& f) {
  if constexpr (yields_void<F>) {
    std::forward<F>(f)();
    return {};
  } else {
    return std::forward<F>(f)();
  }
}

// A reference is kept as a pointer, anything else as itself, to be moved from.
template <class R>
using kept_t =
    std::conditional_t<std::is_reference_v<R>, std::remove_reference_t<R>*, std::remove_const_t<R>>;

template <class F>
kept_t<value_t<F>> kept_value_of(std::remove_reference_t<F>& f) {
  if constexpr (std::is_reference_v<value_t<F>>) {
    auto&& value = value_of<F>(f);
    return std::addressof(value);
  } else {
    return value_of<F>(f);
  }
}

}  // namespace teff::detail
