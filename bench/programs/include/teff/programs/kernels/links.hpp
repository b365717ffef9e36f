#pragma once

#include <atomic>
#include <cstdint>

namespace teff::programs {

inline constexpr std::int64_t degree = 8;  ///< links that lead away from each vertex
inline constexpr std::int32_t unreached = -1;

/// Vertices of one distance.
struct frontier {
  const std::int32_t* first;
  std::int64_t count;
};
/// The list of the vertices of the next distance, to which several threads add at once.
struct reached_vertices {
  std::int32_t* first;
  std::atomic<std::int64_t>& count;
};

/// Gives this distance to all vertices that links lead to from here and that have none yet.
void reach(const std::int32_t* links, const frontier& from, std::int32_t distance, std::int32_t* distances,
           const reached_vertices& into);

}  // namespace teff::programs
