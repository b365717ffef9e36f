#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "teff/apps/huge_vector.hpp"

namespace teff::apps::sssp {

using vertex = std::int32_t;
using distance = std::int32_t;

struct listed_edge {
  vertex from = 0;
  vertex to = 0;
  distance length = 0;
};

/// An undirected graph whose edges have lengths. Each vertex has its edges in one piece of memory, sorted by
/// the vertex at their other end.
class graph {
 public:
  /// An edge, as one of its two vertices has it.
  struct edge {
    vertex to = 0;
    distance length = 0;
    friend auto operator<=>(const edge&, const edge&) = default;
  };

  /// Takes each listed edge in both directions. Of several edges between two vertices it keeps the shortest.
  /// It drops edges from a vertex to itself.
  graph(vertex vertices, std::span<const listed_edge> list);

  [[nodiscard]] vertex vertices() const { return static_cast<vertex>(first_.size() - 1); }
  [[nodiscard]] std::int64_t edges() const { return first_.back() / 2; }
  [[nodiscard]] std::span<const edge> edges_of(vertex from) const {
    const std::int64_t* const first = first_.data() + from;
    return {edges_.data() + first[0], edges_.data() + first[1]};
  }

 private:
  std::vector<std::int64_t> first_;  ///< the first edge of each vertex, and at the end the number of all
  huge_vector<edge> edges_;
};

}  // namespace teff::apps::sssp
