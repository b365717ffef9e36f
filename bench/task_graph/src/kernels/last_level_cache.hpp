#pragma once

#include <cstdint>

namespace teff::graphs::kernels {

/// A scratch of this many bytes is too large for the last-level cache, so that copies had better go past it.
///
/// Twice a core's share of the cache, there being a worker on every core, and at most the whole cache.
/// Measured with copies of windows on two cores that share 32 MiB: an ordinary copy is the faster one by half
/// up to 24 MiB a core, a streaming one by a quarter from 32 MiB.
[[nodiscard]] std::int64_t streaming_threshold();

}  // namespace teff::graphs::kernels
