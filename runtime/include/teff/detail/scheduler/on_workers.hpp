// How a thread that is no worker has the workers do what it begins.
#pragma once

#include <teff/detail/scheduler/job.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/run_call.hpp>

#include <type_traits>

namespace teff::detail {

// Has a worker of the default runtime run the job of the calling thread, which is no worker. Returns false
// without running it on a thread that a runtime has beside its workers, and after the exiting process has
// shut down the default runtime. The calling thread then runs the job itself, in order. Throws what
// default_runtime() throws, runtime_was_shut_down.
[[nodiscard]] bool run_on_default_runtime(awaited_job& job);

// The default runtime. The calling thread, which is no worker, may submit a request to it. The runtime lives
// until end_outside() of that request. Null: the thread runs the request itself, as above. Throws as above.
[[nodiscard]] scheduler* begin_outside();
// The calling thread waits until the request has ended; it runs the request as a guest if no worker has begun
// it. Throws forked_process.
void end_outside(scheduler&, awaited_job& request);

// Returns f(), which is called on a worker: the calling thread if it is one, else one of the default runtime.
// A runtime's spare thread, lent since the workers may not run what it does, calls f() itself, as does any
// when the process exits. Throws what f throws, and what run_on_default_runtime() throws.
template <class F>
std::invoke_result_t<F&> on_workers(F&& f) {
  if (self.head() != nullptr) [[likely]]
    return f();
  call<F&> outside(f);
  if (!run_on_default_runtime(outside)) return f();
  return static_cast<std::invoke_result_t<F&>>(outside.take());
}

}  // namespace teff::detail
