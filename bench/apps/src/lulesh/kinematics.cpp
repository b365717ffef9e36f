#include "lulesh/gather.hpp"
#include "lulesh/kernels.hpp"

namespace teff::apps::lulesh {
namespace {

/// The rate at which the volume grows, relative to it, with the nodes half a step back on their way.
template <class real>
real divergence(const std::array<vec<real>, 3>& axes, const std::array<vec<real>, 3>& velocity,
                double duration) {
  const real back = constant<real>(-0.5 * duration);
  const vec<real> a = axes[0] + back * velocity[0];
  const vec<real> b = axes[1] + back * velocity[1];
  const vec<real> c = axes[2] + back * velocity[2];
  const vec<real> bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
  return (dot(bc, velocity[0]) + dot(ca, velocity[1]) + dot(ab, velocity[2])) / dot(ca, b);
}

/// Volume by the area of the greatest face.
template <class real>
real shortest_way(const hexahedron<real>& position, real volume_now) {
  real greatest{};
  unrolled<6>([&](auto face) {
    const vec<real> area = twice_area(position, faces[face]);
    greatest = larger(greatest, dot(area, area));
  });
  return 2.0 * volume_now / square_root(greatest);
}

}  // namespace

void deform_elements(domain& at, index begin, index end) {
  constexpr double tiny = 1e-36;
  for_packs(begin, end, [&](auto lane, index element) {
    using real = decltype(lane);
    const auto position = gather_corners<real>(at, at.position, element);
    const real volume_now = volume(position);
    const real rest_volume = load<real>(at.rest_volume, element);
    const real relative = volume_now / rest_volume;
    store(at.new_volume, element, relative);
    store(at.volume_change, element, relative - load<real>(at.volume, element));
    store(at.length, element, shortest_way(position, volume_now));

    const std::array<vec<real>, 3> axes = along_axes(position);
    const std::array<vec<real>, 3> velocity = along_axes(gather_corners<real>(at, at.velocity, element));
    store(at.expansion, element, divergence(axes, velocity, at.clock.step));

    // Both along the normal of the two other axes. An axis is a quarter of the sum over its four edges.
    const real one_by_volume = 1.0 / (rest_volume * relative + tiny);
    unrolled<3>([&](auto axis) {
      const vec<real> normal = constant<real>(0.0625) * cross(axes[(axis + 1) % 3], axes[(axis + 2) % 3]);
      store(at.extent[axis], element, rest_volume * relative / square_root(dot(normal, normal) + tiny));
      store(at.spread[axis], element, 0.25 * one_by_volume * dot(normal, velocity[axis]));
    });
  });
}

}  // namespace teff::apps::lulesh
