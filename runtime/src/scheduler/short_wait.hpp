// A wait of a thread from outside that spins before it sleeps.
#pragma once

#include "platform/relax.hpp"

#include <chrono>

namespace teff::detail {

// Whether `done()` becomes true within about as long as it takes to fall asleep and be woken, which a thread
// should not do for less.
template <class Done>
[[nodiscard]] bool happens_soon(Done done) noexcept {
  constexpr int looks_between_clock_readings = 32;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
  do {
    for (int look = 0; look < looks_between_clock_readings; ++look) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return false;
}

}  // namespace teff::detail
