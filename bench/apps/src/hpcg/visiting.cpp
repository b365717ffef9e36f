#include "hpcg/visiting.hpp"

#include <cmath>

namespace teff::apps::hpcg {

visiting visiting_of(const box& points, std::int64_t rows_of_tile) {
  const auto square = static_cast<double>(rows_of_tile) / points.x;
  visiting made{.points = points, .edge = std::max(static_cast<int>(std::sqrt(square)), 1), .sets = {0}};
  const int columns = (points.y + points.z - 2) / made.edge + 1;
  const int layers = (points.z - 1) / made.edge + 1;
  const auto has_rows = [&](const visiting::tile& of) {
    // y descends from plane to plane: the first has the last lines, the last has the first ones.
    return of.column * made.edge - (made.end_plane(of) - 1) < points.y &&
           (of.column + 1) * made.edge - made.first_plane(of) > 0;
  };
  for (int wave = 0; wave < columns + layers - 1; ++wave) {
    for (int layer = std::max(0, wave - columns + 1); layer < std::min(layers, wave + 1); ++layer)
      if (const visiting::tile next{wave - layer, layer}; has_rows(next)) made.tiles.push_back(next);
    if (const auto tiles = static_cast<std::int64_t>(made.tiles.size()); tiles > made.sets.back())
      made.sets.push_back(tiles);
  }
  return made;
}

}  // namespace teff::apps::hpcg
