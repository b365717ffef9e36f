#include "lulesh/gather.hpp"
#include "lulesh/kernels.hpp"

namespace teff::apps::lulesh {
namespace {

/// A matrix by its rows.
template <class real>
using matrix = std::array<vec<real>, 3>;

template <class real>
vec<real> operator*(const matrix<real>& a, const vec<real>& b) {
  return {dot(a[0], b), dot(a[1], b), dot(a[2], b)};
}

/// The sum of a[i] b[i]^T.
template <class real, std::size_t count>
matrix<real> sum_of_products(const std::array<vec<real>, count>& a, const std::array<vec<real>, count>& b) {
  matrix<real> sum{};
  unrolled<count>([&](auto i) {
    sum = {fused(a[i].x, b[i], sum[0]), fused(a[i].y, b[i], sum[1]), fused(a[i].z, b[i], sum[2])};
  });
  return sum;
}

/// The resistance to hourglass modes (Flanagan and Belytschko). Let g be the volume's gradient and h the
/// modes of the positions. Then mode m has the base vector mode_m(c) - g_c . h_m / volume, with a value for
/// each corner c. The force acts against the velocity's product with each base vector. The code below sums
/// over the corners first, so it never forms a base vector.
template <class real>
hexahedron<real> resist_hourglasses(const hexahedron<real>& position, const hexahedron<real>& velocity,
                                    const hexahedron<real>& gradient, real damping, real one_by_volume) {
  const std::array<vec<real>, 4> modes = along_hourglasses(position);
  std::array<vec<real>, 4> amplitudes = along_hourglasses(velocity);
  const matrix<real> linear = sum_of_products(velocity, gradient);
  unrolled<4>([&](auto mode) {
    amplitudes[mode] = damping * fused(-one_by_volume, linear * modes[mode], amplitudes[mode]);
  });
  const matrix<real> explained = sum_of_products(amplitudes, modes);
  hexahedron<real> forces = at_corners(amplitudes);
  unrolled<8>([&](auto corner) {
    forces[corner] = fused(-one_by_volume, explained * gradient[corner], forces[corner]);
  });
  return forces;
}

}  // namespace

void push_corners(domain& at, index begin, index end) {
  for_packs(begin, end, [&](auto lane, index element) {
    using real = decltype(lane);
    const auto position = gather_corners<real>(at, at.position, element);
    const real push = load<real>(at.pressure, element) + load<real>(at.viscosity, element);
    const hexahedron<real> areas = areas_at_corners(position);

    constexpr double hourglass_coefficient = 3.0 * 0.01;
    const auto velocity = gather_corners<real>(at, at.velocity, element);
    const real mass = load<real>(at.rest_volume, element);
    const real volume_now = mass * load<real>(at.volume, element);
    const real damping = -hourglass_coefficient * load<real>(at.sound_speed, element) * mass *
                         reciprocal_cube_root(volume_now);
    const hexahedron<real> resistance =
        resist_hourglasses(position, velocity, volume_gradient(position, areas), damping, 1.0 / volume_now);

    unrolled<8>([&](auto corner) {
      store(at.corner_force, static_cast<index>(corner) * at.corner_stride + element,
            fused(push, areas[corner], resistance[corner]));
    });
  });
}

}  // namespace teff::apps::lulesh
