#pragma once

#include "teff/apps/tiled_matrix.hpp"
#include "teff/apps/tiling.hpp"

namespace teff::apps {

/// A problem on one of the ranks that share it.
struct setting {
  int size = 0;
  int block = 0;
  process_grid grid{};
  int rank = 0;
  layout how = layout::tiles;
};

}  // namespace teff::apps
