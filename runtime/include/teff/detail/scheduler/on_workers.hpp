// How what a thread that is no worker begins gets to the workers.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/outside.hpp>
#include <teff/runtime.hpp>

#include <type_traits>
#include <utility>

namespace teff::detail {

// Returns f(), which is called on a worker: the calling thread if it is one, else one of the default runtime.
// A runtime's spare thread, lent since the workers may not run what it does, calls f() itself, as does any
// when the process exits. Throws what f throws, and what default_runtime() and run() throw.
template <class F>
std::invoke_result_t<F&> on_workers(F&& f) {
  if (self.head() != nullptr) [[likely]]
    return f();
  if (runs_in_order()) return f();
  return default_runtime().run(f);
}

}  // namespace teff::detail
