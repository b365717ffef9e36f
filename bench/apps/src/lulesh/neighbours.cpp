#include "lulesh/neighbours.hpp"

namespace teff::apps::lulesh {
namespace {

/// The places of a chunk in a list.
std::span<const index> part(const indices& list, range chunk) {
  return list.subspan(static_cast<std::size_t>(chunk.begin),
                      static_cast<std::size_t>(chunk.end - chunk.begin));
}

}  // namespace

std::vector<index> nodes_of(const domain& at, range elements) {
  std::vector<index> all;
  for (const indices& each : at.corners)
    for (const index node : part(each, elements)) all.push_back(node);
  return all;
}

std::vector<index> elements_at(const domain& at, range nodes) {
  std::vector<index> all;
  for (const indices& each : at.node_corners)
    for (const index place : part(each, nodes))
      if (place < 8 * at.corner_stride) all.push_back(place % at.corner_stride);
  return all;
}

std::vector<index> elements_beside(const domain& at, range elements) {
  std::vector<index> all;
  for (index each = elements.begin; each < elements.end; ++each) all.push_back(each);
  for (const auto* const lists : {&at.before, &at.after})
    for (const indices& each : *lists)
      for (const index place : part(each, elements))
        if (place < at.elements) all.push_back(place);
  return all;
}

}  // namespace teff::apps::lulesh
