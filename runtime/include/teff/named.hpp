// named: gives a task the name under which a trace shows it.
#pragma once

#include <teff/detail/scheduler/task_name.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace teff {

// A closure with a name, made by named(). The name is part of its type, so it costs nothing to carry.
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

// Gives `f` a name. The result can be passed wherever libteff takes a closure: join, spawn, parallel_for,
// run. Traces (TEFF_TRACE) show the name; for a closure without one, they show the function or line in which
// it stands.
//
//   s.spawn(teff::named<"row">([&, i] { sum_row(i); }));
template <detail::literal Name, class F>
[[nodiscard]] named_task<Name, std::decay_t<F>> named(F&& f) {
  return {std::forward<F>(f)};
}

// A closure that carries a name, made by named().
template <class F>
struct labelled_task {
  const char* label;
  F function;

  template <class... Arguments>
  decltype(auto) operator()(Arguments&&... arguments)
    requires std::is_invocable_v<F&, Arguments...>
  {
    return std::invoke(function, std::forward<Arguments>(arguments)...);
  }
  [[nodiscard]] const char* task_name() const noexcept { return label; }
};

// Gives `f` a name that is known at run time only. The trace of a task or of a worksharing task of a flow
// shows it. The text must live until the runtime has written its trace, as a string literal does.
//
//   f.task(teff::inout(x), teff::named(kernel.name, [&] { kernel.run(x); }));
template <class F>
[[nodiscard]] labelled_task<std::decay_t<F>> named(const char* name, F&& f) {
  return {name, std::forward<F>(f)};
}

}  // namespace teff
