#pragma once

#include <cstdint>

namespace teff::bench {

/// The most memory this process has held at once since it started or since the last reset [bytes].
[[nodiscard]] std::int64_t peak_resident_bytes();
/// Resets the peak to the memory that the process holds now. If the kernel refuses, the old peak stays.
void reset_peak_resident();
/// The memory that this process may use at most: the machine's, or its control group's where that is less
/// [bytes].
[[nodiscard]] std::int64_t memory_here();

}  // namespace teff::bench
