#include "lulesh/gather.hpp"
#include "lulesh/kernels.hpp"

namespace teff::apps::lulesh {
namespace {

/// How smooth the velocity is along an axis, from 0 (a shock) to 1: the neighbours' spread by the element's
/// own.
template <class real>
real smoothness(real own, real before, real after) {
  constexpr double tiny = 1e-36;
  constexpr double steepest = 2.0;
  constexpr double smoothest = 1.0;
  const real one_by_own = 1.0 / (own + tiny);
  before *= one_by_own;
  after *= one_by_own;
  const real least = smaller(0.5 * (before + after), smaller(steepest * before, steepest * after));
  return smaller(larger(least, real{}), constant<real>(smoothest));
}

}  // namespace

void limit_viscosity(domain& at, index begin, index end) {
  constexpr double linear_coefficient = 0.5;
  constexpr double quadratic_coefficient = 2.0 / 3.0;
  for_packs(begin, end, [&](auto lane, index element) {
    using real = decltype(lane);
    real linear{}, quadratic{};
    unrolled<3>([&](auto axis) {
      const real own = load<real>(at.spread[axis], element);
      const real smooth = smoothness(own, gather<real>(at.spread[axis], at.before[axis], element),
                                     gather<real>(at.spread[axis], at.after[axis], element));
      const real closing = smaller(own * load<real>(at.extent[axis], element), real{});
      linear += closing * (1.0 - smooth);
      quadratic += closing * closing * (1.0 - smooth * smooth);
    });
    const real density = 1.0 / load<real>(at.new_volume, element);
    const auto expands = load<real>(at.expansion, element) > real{};
    store(at.linear_viscosity, element, expands ? real{} : -linear_coefficient * density * linear);
    store(at.quadratic_viscosity, element, expands ? real{} : quadratic_coefficient * density * quadratic);
  });
}

}  // namespace teff::apps::lulesh
