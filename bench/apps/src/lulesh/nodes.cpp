#include "lulesh/gather.hpp"
#include "lulesh/kernels.hpp"

namespace teff::apps::lulesh {

void sum_forces(domain& at, index begin, index end) {
  for_packs(begin, end, [&](auto lane, index node) {
    using real = decltype(lane);
    vec<real> sum{};
    unrolled<8>(
        [&](auto corner) { sum = sum + gather<real>(at.corner_force, at.node_corners[corner], node); });
    store(at.force, node, sum);
  });
}

void move_nodes(domain& at, index begin, index end) {
  constexpr double least_velocity = 1e-7;
  const double duration = at.clock.step;
  for_packs(begin, end, [&](auto lane, index node) {
    using real = decltype(lane);
    const auto move = [&](values position, values velocity, values force, values mobility) {
      const real acceleration = load<real>(force, node) * load<real>(mobility, node);
      const real now = cut(load<real>(velocity, node) + acceleration * duration, least_velocity);
      store(velocity, node, now);
      store(position, node, load<real>(position, node) + now * duration);
    };
    move(at.position.x, at.velocity.x, at.force.x, at.mobility.x);
    move(at.position.y, at.velocity.y, at.force.y, at.mobility.y);
    move(at.position.z, at.velocity.z, at.force.z, at.mobility.z);
  });
}

}  // namespace teff::apps::lulesh
