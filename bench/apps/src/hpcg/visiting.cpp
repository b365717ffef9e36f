#include "hpcg/visiting.hpp"

#include <numeric>

namespace teff::apps::hpcg {
namespace {

visiting one_by_one(const box& points) {
  visiting made{.unit = points.rows(), .first = {0, 1}};
  made.rows.resize(std::size_t(points.rows()));
  std::iota(made.rows.begin(), made.rows.end(), 0);
  return made;
}

visiting in_wavefronts(const box& points) {
  visiting made{.unit = points.x};
  for (int wave = 0; wave <= points.y - 1 + 2 * (points.z - 1); ++wave) {
    made.first.push_back(static_cast<std::int64_t>(made.rows.size()) / points.x);
    for (int z = 0; z < points.z; ++z)
      if (const int y = wave - 2 * z; y >= 0 && y < points.y)
        for (int x = 0; x < points.x; ++x) made.rows.push_back(points.row(x, y, z));
  }
  made.first.push_back(static_cast<std::int64_t>(made.rows.size()) / points.x);
  return made;
}

visiting in_colours(const box& points) {
  visiting made{.unit = 1};
  for (int colour = 0; colour < 8; ++colour) {
    made.first.push_back(static_cast<std::int64_t>(made.rows.size()));
    for (int z = colour / 4; z < points.z; z += 2)
      for (int y = colour / 2 % 2; y < points.y; y += 2)
        for (int x = colour % 2; x < points.x; x += 2) made.rows.push_back(points.row(x, y, z));
  }
  made.first.push_back(static_cast<std::int64_t>(made.rows.size()));
  return made;
}

}  // namespace

visiting visiting_of(const box& points, sweep how) {
  if (how == sweep::wavefronts) return in_wavefronts(points);
  return how == sweep::colours ? in_colours(points) : one_by_one(points);
}

}  // namespace teff::apps::hpcg
