#pragma once

#include <cstdint>

#include "sssp/delta_stepping.hpp"

namespace teff::apps::sssp {

/// The summary of the distances in a record.
struct answer {
  std::int64_t reached = 0;  ///< vertices, with the source
  std::int64_t sum = 0;      ///< of the distances of the reached vertices
  distance greatest = 0;
  friend bool operator==(const answer&, const answer&) = default;
};

[[nodiscard]] answer read_answer(const problem& p);

/// How many of the vertices [begin, end) have a wrong distance. An edge that shortens a distance makes its
/// nearer vertex wrong. A reached vertex is also wrong if no edge explains its distance; the source's has to
/// be 0. If no vertex of the graph is wrong, all distances are shortest ones.
[[nodiscard]] std::int64_t wrong_distances(const problem& p, std::int64_t begin, std::int64_t end);

}  // namespace teff::apps::sssp
