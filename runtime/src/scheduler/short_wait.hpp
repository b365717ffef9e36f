// A wait of a thread from outside that spins before it sleeps.
#pragma once

#include "platform/relax.hpp"

#include <chrono>

namespace teff::detail {

// For which a thread should not fall asleep and be woken.
inline constexpr std::chrono::microseconds short_wait{10};

// Whether `done()` becomes true within that time.
template <class Done>
[[nodiscard]] bool happens_soon(Done done, std::chrono::microseconds patience = short_wait) noexcept {
  constexpr int looks_between_clock_readings = 32;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  do {
    for (int look = 0; look < looks_between_clock_readings; ++look) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace teff::detail
