#pragma once

#include <cstdint>
#include <string_view>

#include "sssp/graph.hpp"

namespace teff::apps::sssp {

inline constexpr int highest_scale = 26;

// The synthetic graphs of the GAP benchmark suite (Beamer, Asanovic, Patterson, 2015). They have 2^scale
// vertices, 16 listed edges for each vertex, and lengths from 1 to 255. Each call for a scale makes the same
// graph.

/// An edge descends `scale` times into a quarter of the adjacency matrix, with the probabilities 0.57, 0.19,
/// 0.19 and 0.05. Then the vertices are renumbered at random.
[[nodiscard]] graph kronecker(int scale);
/// Both ends of an edge are random vertices.
[[nodiscard]] graph uniform(int scale);

/// The graph that a user names: kron or uniform, and the scale, as in kron14. Throws bench::usage_error.
[[nodiscard]] graph named(std::string_view name);

/// The vertex from which the suite finds the distances in one of its graphs: the second vertex with an edge
/// in a random sequence.
[[nodiscard]] vertex source(const graph& of);

}  // namespace teff::apps::sssp
