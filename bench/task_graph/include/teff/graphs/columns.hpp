#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// A point of a graph, at any timestep.
struct column {
  std::size_t graph;
  std::int64_t point;
};

/// The columns of all graphs, for a loop over a timestep.
inline std::vector<column> columns_of(const workload& work) {
  std::vector<column> all;
  for (std::size_t graph = 0; graph < work.graphs(); ++graph)
    for (std::int64_t point = 0; point < work.graph(graph).width; ++point) all.push_back({graph, point});
  return all;
}

}  // namespace teff::graphs
