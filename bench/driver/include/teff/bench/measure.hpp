#pragma once

#include <functional>

#include "teff/bench/noise.hpp"
#include "teff/bench/record.hpp"

namespace teff::bench {

/// Calls run(region), which starts and stops the region. Returns when it began, how long the region took and
/// what disturbed it.
[[nodiscard]] measurement measure(const std::function<void(region_meter&)>& run);

}  // namespace teff::bench
