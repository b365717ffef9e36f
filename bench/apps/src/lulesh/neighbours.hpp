#pragma once

#include <vector>

#include "lulesh/domain.hpp"

namespace teff::apps::lulesh {

struct range {
  index begin;
  index end;
};

// The neighbours of a chunk, in any order, and some of them several times. A program learns here for which
// chunks another kernel's chunk waits.

/// The nodes at the corners of a chunk of elements.
[[nodiscard]] std::vector<index> nodes_of(const domain& at, range elements);

/// The elements that have a corner at a node of a chunk.
[[nodiscard]] std::vector<index> elements_at(const domain& at, range nodes);

/// A chunk of elements, and the elements before and after each of them along the axes.
[[nodiscard]] std::vector<index> elements_beside(const domain& at, range elements);

}  // namespace teff::apps::lulesh
