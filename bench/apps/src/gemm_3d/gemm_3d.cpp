#include "tile_app.hpp"

namespace teff::apps {

description describe_gemm_3d() {
  return {
      .name = "gemm_3d",
      .title = "C = A B in layers, on tiles",
      .unit = "FLOP",
      .ways = {way_kind::graph, way_kind::tasks},
      .cases =
          {{"gemm_3d-64", "C = A B in layers, 2048 rows, tiles of 64", "-size 2048 -block 64", false},
           {"gemm_3d-128", "C = A B in layers, 2048 rows, tiles of 128", "-size 2048 -block 128", false},
           {"gemm_3d-256", "C = A B in layers, 2048 rows, tiles of 256", "-size 2048 -block 256", false},
           {"gemm_3d-16", "C = A B in layers, 100 rows, tiles of 16", "-size 100 -block 16", false, {1, 4}}},
      .residual = "||C x - A (B x)|| / (||A|| ||B|| ||x||), of a random vector x",
      .over_ranks = false,
      .on_tiles = true,
      .flags = &read_flags_of<gemm, true>};
}

}  // namespace teff::apps
