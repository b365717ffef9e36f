// parallel_invoke: closures that may run in parallel, for what they do.
#pragma once

#include <teff/join.hpp>

#include <functional>
#include <utility>

namespace teff {

// Calls all of them, and returns when all have ended. What they return is dropped; else as join.
//
//   teff::parallel_invoke([&] { load(a); }, [&] { load(b); }, [&] { load(c); });
template <class... F>
  requires(sizeof...(F) > 0)
void parallel_invoke(F&&... f) {
  if constexpr (sizeof...(F) == 1) {
    (std::invoke(std::forward<F>(f)), ...);
  } else {
    join([&f] { static_cast<void>(std::invoke(std::forward<F>(f))); }...);
  }
}

}  // namespace teff
