// parallel_invoke: closures that may run in parallel, called for their effects.
#pragma once

#include <teff/detail/scheduler/on_workers.hpp>
#include <teff/join.hpp>

#include <functional>
#include <utility>

namespace teff {

// Calls all closures, and returns when all have ended. Their values are dropped. What runs where, and
// exceptions, are as in join.
//
//   teff::parallel_invoke([&] { load(a); }, [&] { load(b); }, [&] { load(c); });
template <class... F>
  requires(sizeof...(F) > 0)
void parallel_invoke(F&&... f) {
  if constexpr (sizeof...(F) == 1) {
    (std::invoke(std::forward<F>(f)), ...);
  } else {
    detail::on_workers([&] { join([&f] { static_cast<void>(std::invoke(std::forward<F>(f))); }...); });
  }
}

}  // namespace teff
