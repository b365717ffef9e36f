#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "sssp/bins.hpp"
#include "sssp/graph.hpp"
#include "teff/apps/ways.hpp"

namespace teff::apps::sssp {

struct problem;

/// The length of a way to a vertex of another part.
struct request {
  vertex to = 0;
  distance length = 0;
};

/// A part of the vertices. Only the part's own tasks lower the distances of these vertices.
struct part {
  bins buckets;  ///< of its vertices
  /// Of even and of odd rounds: the requests to each other part.
  std::array<std::vector<std::vector<request>>, 2> sent;
  std::size_t lowest = 0;  ///< after a round: the lowest bucket of the part's vertices, and of its requests
};

/// Finds all distances in a graph of tasks: delta-stepping in rounds. The task (r, p) receives the requests
/// to part p that the tasks of round r - 1 sent. Then it relaxes the edges of those vertices of the part that
/// the round's bucket has. One more task a round waits for all tasks of the round before, and chooses the
/// bucket. If no bucket has vertices, it fulfils no key, so the graph ends.
void solve_in_parts(problem& p, keyed_tasks& by);

}  // namespace teff::apps::sssp
