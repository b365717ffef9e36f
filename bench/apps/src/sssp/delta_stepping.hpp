#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "sssp/bins.hpp"
#include "sssp/graph.hpp"
#include "sssp/parts.hpp"
#include "teff/apps/huge_vector.hpp"
#include "teff/apps/ways.hpp"

namespace teff::apps::sssp {

inline constexpr distance unreached = std::numeric_limits<distance>::max();

/// Shortest distances from one vertex by delta-stepping (Meyer and Sanders, 2003), in rounds. Bucket b has
/// the vertices at distances from b delta to (b + 1) delta. A round relaxes the edges of all vertices of the
/// lowest bucket that has any. A vertex whose distance falls goes to the bucket of its new distance.
///
/// The kernels of a round take parts of an index range, and any threads may run the parts at the same time:
///
///     while (next_round(p)) {
///       gather for [0, p.bins.size())
///       relax for [0, p.frontier.size())
///     }
struct problem {
  problem(const graph& of, vertex source, distance delta);

  const graph& of;
  vertex source;
  distance delta;
  huge_vector<distance> distances;
  std::size_t bucket = 0;             ///< of this round
  std::vector<vertex> frontier;       ///< the vertices of this round; some may be there more than once
  std::vector<std::size_t> gathered;  ///< where in `frontier` the vertices of each bin begin
  pool_of_bins bins;
  shared_bins of_tasks;     ///< without rounds
  std::vector<part> parts;  ///< of a graph of tasks
};

/// Chooses the lowest bucket that has vertices; false if none has. One thread calls it between the kernels.
bool next_round(problem& p);

/// Moves the vertices of this round's bucket from bins [begin, end) to the frontier.
void gather(problem& p, std::int64_t begin, std::int64_t end);

/// Relaxes the edges of the vertices [begin, end) of the frontier. While few vertices fall into this round's
/// bucket again, the same thread relaxes their edges too. This saves rounds (Zhang and others, 2020).
void relax(problem& p, std::int64_t begin, std::int64_t end);

/// Finds all distances. The way decides between rounds of loops, tasks that make tasks, and solve_in_parts().
///
/// With tasks that make tasks, there are no rounds, and nothing waits for the last vertex of a bucket. A task
/// relaxes the edges of vertices of one bucket, and the priority of a lower bucket is higher. The distances
/// are the same, since a vertex whose distance falls always comes into a bucket again. A task that runs
/// before a lower bucket is empty only relaxes edges for nothing.
void solve(problem& p, way& by);

}  // namespace teff::apps::sssp
