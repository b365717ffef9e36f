#pragma once

#include <cstdint>

namespace teff::bench {

/// The most memory this process has held at once since it started or since the last reset [bytes].
[[nodiscard]] std::int64_t peak_resident_bytes();
/// Lets the peak begin anew at what is held now. Where the kernel refuses, the old peak goes on.
void reset_peak_resident();

}  // namespace teff::bench
