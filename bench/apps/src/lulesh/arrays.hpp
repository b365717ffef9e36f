#pragma once

#include <cstdint>
#include <span>

namespace teff::apps::lulesh {

/// Numbers an element, a node, or a corner of all elements.
using index = std::int32_t;
using values = std::span<double>;
using indices = std::span<index>;

}  // namespace teff::apps::lulesh
