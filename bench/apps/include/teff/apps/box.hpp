#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace teff::apps {

/// How many there are in each of three directions: `20x30x10` on the command line.
using box = std::array<int, 3>;

/// Of a text that is a box.
[[nodiscard]] box box_of(const std::string& text);
/// Why a text is not a box of at most 2^31 - 1; empty if it is.
[[nodiscard]] std::string fault_of_box(const std::string& text);

[[nodiscard]] constexpr std::int64_t volume(const box& of) {
  return std::int64_t{of[0]} * of[1] * of[2];
}

}  // namespace teff::apps
