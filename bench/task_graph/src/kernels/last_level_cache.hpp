#pragma once

#include <cstdint>

namespace teff::graphs::kernels {

/// A scratch of this many bytes is too large for the last-level cache, so that copies had better go past it.
///
/// Twice a core's share of the cache, there being a worker on every core, and at most the whole cache.
/// Measured on two cores that share 32 MiB: up to 24 MiB a core an ordinary copy is faster by half, from 32
/// MiB a streaming copy by a quarter.
[[nodiscard]] std::int64_t streaming_threshold();

}  // namespace teff::graphs::kernels
