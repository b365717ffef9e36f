#include "lulesh/neighbours.hpp"

#include <algorithm>

namespace teff::apps::lulesh {
namespace {

void widen(range& hull, index place) {
  hull.begin = std::min(hull.begin, place);
  hull.end = std::max(hull.end, place + 1);
}

/// The places of a chunk in a list.
std::span<const index> part(const indices& list, range chunk) {
  return list.subspan(static_cast<std::size_t>(chunk.begin),
                      static_cast<std::size_t>(chunk.end - chunk.begin));
}

}  // namespace

range nodes_of(const domain& at, range elements) {
  range hull{at.nodes, 0};
  for (const indices& each : at.corners)
    for (const index node : part(each, elements)) widen(hull, node);
  return hull;
}

range elements_at(const domain& at, range nodes) {
  range hull{at.elements, 0};
  for (const indices& each : at.node_corners)
    for (const index place : part(each, nodes))
      if (place < 8 * at.corner_stride) widen(hull, place % at.corner_stride);
  return hull;
}

range elements_beside(const domain& at, range elements) {
  range hull = elements;
  for (const auto* const lists : {&at.before, &at.after})
    for (const indices& each : *lists)
      for (const index place : part(each, elements))
        if (place < at.elements) widen(hull, place);
  return hull;
}

}  // namespace teff::apps::lulesh
