#include <algorithm>
#include <atomic>
#include <cmath>

#include "lulesh/gather.hpp"
#include "lulesh/kernels.hpp"

namespace teff::apps::lulesh {
namespace {

/// Relaxed: the limits say nothing about other memory, and begin_step() reads them after all chunks.
void lower(double& limit, double value) {
  const std::atomic_ref<double> shared(limit);
  double seen = shared.load(std::memory_order_relaxed);
  while (value < seen && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

void limit_step(domain& at, index begin, index end) {
  constexpr double volume_change_of_a_step = 0.1;
  constexpr double viscosity_factor = 64 * 2.0 * 2.0;
  constexpr double greatest_viscosity = 1e12;
  double least_square = step_limits::none * step_limits::none;
  double fastest = 0;
  double valid = 1;
  for_packs(begin, end, [&](auto lane, index element) {
    using real = decltype(lane);
    const real expansion = load<real>(at.expansion, element);
    const real sound = load<real>(at.sound_speed, element);
    const real length = load<real>(at.length, element);
    const real closing = smaller(expansion, real{}) * length;
    const real square = length * length / (sound * sound + viscosity_factor * closing * closing);
    const real never = constant<real>(least_square);
    least_square =
        std::min(least_square, least_lane(magnitude(expansion) > 0.0 ? smaller(square, never) : never));
    fastest = std::max(fastest, -least_lane(-magnitude(expansion)));
    const real bound = load<real>(at.viscosity, element) <= greatest_viscosity ? constant<real>(1.0) : real{};
    valid = std::min(valid, least_lane(load<real>(at.volume, element) > 0.0 ? bound : real{}));
  });
  lower(at.limits.courant, std::sqrt(least_square));
  if (fastest > 0) lower(at.limits.hydro, volume_change_of_a_step / (fastest + 1e-20));
  lower(at.limits.valid, valid);
}

}  // namespace teff::apps::lulesh
