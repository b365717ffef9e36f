#pragma once

#include <array>
#include <cstdint>

namespace teff::programs {

inline constexpr int floor_side = 64;
using floor_rows = std::array<std::uint64_t, floor_side>;  ///< which squares of a floor are taken

/// A rectangle on a floor.
struct room {
  std::int8_t top;
  std::int8_t left;
  std::int8_t height;
  std::int8_t width;
};

/// Takes the squares of a room. Returns false, and leaves some of them taken, if one of them was taken or
/// lies beyond the floor.
[[nodiscard]] bool lay(floor_rows& floor, const room& placed);

}  // namespace teff::programs
