#pragma once

#include "leanmd/simulate.hpp"

namespace teff::apps::leanmd {

/// LeanMD's energies, in millijoules; 0 where it is not known.
struct known {
  place cells;
  int steps;
  outcome found;
};
inline constexpr known all_known[] = {
    {{3, 3, 3}, 2, {{-2.84384647871e-15, 3.84316533214e-15}, {-2.84301283157e-15, 3.84322207852e-15}}},
    {{3, 3, 3}, 21, {{-2.84384647871e-15, 3.84316533214e-15}, {-2.46763480988e-15, 3.48652207606e-15}}},
    {{4, 4, 4}, 21, {{-5.83257639958e-15, 9.27468049751e-15}, {-4.97687221760e-15, 8.46360650193e-15}}},
    {{5, 5, 5}, 11, {{-1.14530450949e-14, 0}, {-1.10512129146e-14, 0}}},
    {{3, 3, 3}, 101, {{-2.84384647871e-15, 3.84316533214e-15}, {-2.06000629086e-15, 3.05810740279e-15}}},
};

}  // namespace teff::apps::leanmd
