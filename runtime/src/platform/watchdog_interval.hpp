// How often the library reports on stderr why a wait goes on.
#pragma once

#include <chrono>

namespace teff::detail {

// TEFF_WATCHDOG as "30" or "30s". 0: the library reports nothing. Throws invalid_option.
[[nodiscard]] std::chrono::seconds watchdog_interval(std::chrono::seconds if_unset = {});

}  // namespace teff::detail
