#pragma once

#include "lulesh/domain.hpp"

namespace teff::apps::lulesh {

struct range {
  index begin;
  index end;
};

// The neighbours of a chunk, as the least range that holds them all: a program learns here for which chunks
// another kernel's chunk waits.

/// The nodes at the corners of a chunk of elements.
[[nodiscard]] range nodes_of(const domain& at, range elements);

/// The elements that have a corner at a node of a chunk.
[[nodiscard]] range elements_at(const domain& at, range nodes);

/// A chunk of elements, and the elements before and after each of them along the axes.
[[nodiscard]] range elements_beside(const domain& at, range elements);

}  // namespace teff::apps::lulesh
