#pragma once

#include <vector>

namespace teff::wake {

/// The time that the machine takes to wake a thread that sleeps in a futex on another core, from before the
/// call until the thread runs [s]. Measured `wakes` times: no runtime can be quicker from sleep. Binds no
/// thread but its own. Empty where the process may use one core only.
[[nodiscard]] std::vector<double> bare_wakes(int wakes);

}  // namespace teff::wake
