#pragma once

#include "lulesh/arrays.hpp"

namespace teff::apps::lulesh {

/// The published program's last values, and sums over its arrays at the end.
struct known {
  index edge;
  int steps;
  double origin_energy, internal_energy, volume, kinetic_energy, last_step;
};
inline constexpr known all_known[] = {
    {5, 72, 7.853665102146e3, 330.7651082906, 1.425320238382, 205.2230340088, 1.193337898438e-4},
    {10, 231, 2.720531168470e4, 344.2050536543, 1.423932452954, 167.8860306084, 3.744566287531e-5},
    {20, 575, 9.66885598158e4, 343.6256830148, 1.423828125041, 151.4024764508, 2.468654150937e-5},
    {30, 932, 2.025074785072e5, 340.8154022032, 1.423828125000, 145.8068351186, 1.344664784598e-5}};

}  // namespace teff::apps::lulesh
