// The communicator whose handler the calling thread runs; null outside of handlers.
#pragma once

namespace teff::detail {

class communicator_core;

inline constinit thread_local const communicator_core* handling = nullptr;

}  // namespace teff::detail
