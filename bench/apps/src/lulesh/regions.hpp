#pragma once

#include <vector>

#include "lulesh/arrays.hpp"

namespace teff::apps::lulesh {

/// How many materials there are, and how unequal they are. Regions change what a step costs, never its
/// result.
struct region_setting {
  int count = 11;
  int balance = 1;  ///< region r has a share of the elements in proportion to (r + 1) to this power
  int cost = 1;     ///< how much dearer the last regions are
};

/// Neighbouring elements of one region. The equation of state is evaluated `repetitions` times for them.
struct region_run {
  index begin;
  index end;
  int region;
  int repetitions;
};

/// Runs that cover all elements, in order. They are equal to the published program's on Linux, so a step
/// costs the same.
[[nodiscard]] std::vector<region_run> make_regions(const region_setting& at, index elements, int rank);

}  // namespace teff::apps::lulesh
