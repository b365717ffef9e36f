#pragma once

#include <string>

#include "teff/graphs/configuration.hpp"

namespace teff::graphs {

/// The least memory that any process needs for these graphs [bytes]: its tables of dependences, the outputs
/// of two timesteps and one working set.
[[nodiscard]] double least_memory(const configuration& work);

/// The least time that a run takes on so many cores [seconds]: without the cost of a runtime, and with the
/// kernel as quick as on the best core.
[[nodiscard]] double least_seconds(const configuration& work, int cores);

/// Why a machine with so much memory can't run these graphs (value, rule, way out), or an empty string.
[[nodiscard]] std::string beyond_reach(const configuration& work, double memory);

/// That a run takes long, for people, or an empty string where it need not.
[[nodiscard]] std::string long_run(const configuration& work, int cores);

}  // namespace teff::graphs
