#pragma once

#include <cstdint>

namespace teff::apps::hpcg {

/// The published program's results on a cube, and its scaled residual after fifty iterations.
struct known {
  int side;
  std::int64_t nonzeros;
  double residual;
};
inline constexpr known all_known[] = {
    {16, 97336, 3.66234e-41}, {32, 830584, 1.02983e-20}, {64, 6859000, 1.13589e-11}};

}  // namespace teff::apps::hpcg
