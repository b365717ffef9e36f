// What threads that are no workers call.
#pragma once

namespace teff::detail {

// Whether what the calling thread, which is no worker, begins is run in order on it: on a thread that a
// runtime has beside its workers; and on any, when the process exits and has shut down the default runtime.
[[nodiscard]] bool runs_in_order() noexcept;

// Calls body(what) on a worker of the default runtime; but at once if runs_in_order(). Throws what body
// throws, and what default_runtime() and run() throw.
void call_on_default_runtime(void (*body)(void* what), void* what);

}  // namespace teff::detail
