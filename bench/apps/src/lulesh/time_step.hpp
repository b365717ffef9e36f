#pragma once

#include "lulesh/domain.hpp"
#include "lulesh/kernels.hpp"

namespace teff::apps::lulesh {

inline constexpr double stop_time = 1e-2;

/// Chooses the step's duration by the limits, advances the clock by it, and resets the limits. It begins
/// after all chunks of the last step's limit_step(), and ends before the first of move_nodes(). Throws
/// std::runtime_error if the limits say that the last step left an invalid element.
void begin_step(domain& at);

/// One step. loop(count, kernel) calls kernel(at, begin, end) for chunks of [0, count), and returns when all
/// have ended.
template <class Loop>
void step(domain& at, Loop&& loop) {
  begin_step(at);
  loop(at.elements, push_corners);
  loop(at.nodes, sum_forces);
  loop(at.nodes, move_nodes);
  loop(at.elements, deform_elements);
  loop(at.elements, limit_viscosity);
  loop(at.elements, update_material);
  loop(at.elements, limit_step);
}

}  // namespace teff::apps::lulesh
