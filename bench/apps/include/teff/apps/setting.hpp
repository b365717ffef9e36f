#pragma once

#include "teff/apps/tiled_matrix.hpp"
#include "teff/apps/tiling.hpp"

namespace teff::apps {

/// A problem on one of the ranks that share it.
struct setting {
  int size = 0;
  int block = 0;
  block_sizes sizes = block_sizes::equal;
  process_grid grid{};
  int layers = 1;  ///< of a product; of a grid that is deeper than one, as many
  int rank = 0;
  layout how = layout::tiles;
};

}  // namespace teff::apps
