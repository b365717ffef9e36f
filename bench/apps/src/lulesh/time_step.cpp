#include "lulesh/time_step.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace teff::apps::lulesh {
namespace {

constexpr double longest_step = 1e-2;
constexpr double least_growth = 1.1;  ///< a step that could be longer, but by less, stays as it is
constexpr double most_growth = 1.2;

double next_duration(double before, const step_limits& limits) {
  double duration = step_limits::none;
  if (limits.courant < duration) duration = limits.courant / 2;
  if (limits.hydro < duration) duration = limits.hydro * 2 / 3;
  const double growth = duration / before;
  if (growth >= 1) duration = growth < least_growth ? before : std::min(duration, before * most_growth);
  return std::min(duration, longest_step);
}

}  // namespace

void begin_step(domain& at) {
  const step_limits limits = std::exchange(at.limits, {});
  clock& now = at.clock;
  if (limits.valid == 0)
    throw std::runtime_error("step " + std::to_string(now.steps) +
                             " turned an element inside out or left its viscosity without bound");
  if (now.steps > 0) now.step = next_duration(now.step, limits);
  const double rest = stop_time - now.time;
  const bool leaves_a_sliver = rest > now.step && rest < 4 * now.step / 3;
  now.step = std::min(now.step, leaves_a_sliver ? 2 * now.step / 3 : rest);
  now.time += now.step;
  ++now.steps;
}

}  // namespace teff::apps::lulesh
