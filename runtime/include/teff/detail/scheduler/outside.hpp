// Functions that threads call which are no workers.
#pragma once

#include <teff/detail/scheduler/awaited_job.hpp>

namespace teff::detail {

// Has a worker of the default runtime run the job of the calling thread, which is no worker. False, and
// nothing was run, where that thread is to run it itself, in order: it is one that a runtime has beside its
// workers; or the process exits, and has shut down the default runtime. Throws what default_runtime() throws,
// runtime_was_shut_down.
[[nodiscard]] bool run_on_default_runtime(awaited_job& job);

// Calls body(what) so, or itself. Throws what body throws, too.
void call_on_default_runtime(void (*body)(void* what), void* what);

}  // namespace teff::detail
