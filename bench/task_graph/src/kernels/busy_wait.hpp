#pragma once

#include <cstdint>

namespace teff::graphs::kernels {

/// The multiplier and the modulus of the MINSTD generator: a full period, so the chain never gets stuck.
inline constexpr std::uint64_t busy_wait_multiplier = 48271;
inline constexpr std::uint64_t busy_wait_modulus = 2147483647;

/// The state 1 after `iterations` steps of the generator, each of which waits for the one before.
[[nodiscard]] inline std::uint64_t busy_wait(std::int64_t iterations) {
  std::uint64_t state = 1;
  for (; iterations > 0; --iterations) state = state * busy_wait_multiplier % busy_wait_modulus;
  return state;
}

}  // namespace teff::graphs::kernels
