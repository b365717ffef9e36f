// How what a thread that is no worker begins gets to the workers.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/outside.hpp>
#include <teff/detail/scheduler/run_call.hpp>

#include <type_traits>

namespace teff::detail {

// Returns f(), which is called on a worker: the calling thread if it is one, else one of the default runtime.
// A runtime's spare thread, lent since the workers may not run what it does, calls f() itself, as does any
// when the process exits. Throws what f throws, and what run_on_default_runtime() throws.
template <class F>
std::invoke_result_t<F&> on_workers(F&& f) {
  if (self.head() != nullptr) [[likely]]
    return f();
  call<F&> outside(f);
  if (!run_on_default_runtime(outside)) return f();
  if constexpr (yields_void<F&>) {
    outside.take();
  } else {
    return outside.take();
  }
}

}  // namespace teff::detail
