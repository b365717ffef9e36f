// What threads that are no workers call.
#pragma once

namespace teff::detail {

// Whether the calling thread is one that a runtime has beside its workers.
[[nodiscard]] bool is_spare_thread() noexcept;

// Calls body(what) on a worker of the default runtime; but on a spare thread at once. Throws what body
// throws, and what default_runtime() and run() throw.
void call_on_default_runtime(void (*body)(void* what), void* what);

}  // namespace teff::detail
