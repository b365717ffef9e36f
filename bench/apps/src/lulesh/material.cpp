#include <algorithm>
#include <atomic>

#include "lulesh/gather.hpp"
#include "lulesh/kernels.hpp"

namespace teff::apps::lulesh {
namespace {

constexpr double least_volume = 1e-9;
constexpr double greatest_volume = 1e9;
constexpr double least_energy = -1e15;
constexpr double cut_energy = 1e-7;
constexpr double cut_pressure = 1e-7;
constexpr double cut_viscosity = 1e-7;
constexpr double cut_volume = 1e-10;
constexpr double gamma_minus_one = 2.0 / 3.0;  ///< of an ideal gas

/// A state of the gas, relative to that at rest.
template <class real>
struct state {
  real volume;
  real density;

  [[nodiscard]] real pressure(real energy) const {
    const real ideal = gamma_minus_one * density * energy;
    return ideal < cut_pressure ? real{} : ideal;
  }

  [[nodiscard]] real sound_speed(real energy, real pressure) const {
    const real elastic = volume * volume * (gamma_minus_one * density);
    const real square = fused(elastic, pressure, gamma_minus_one * energy);
    return square <= 0.1111111e-36 ? constant<real>(0.3333333e-18) : square_root(square);
  }
};

template <class real>
real bound_energy(real energy) {
  return larger(energy, constant<real>(least_energy));
}

template <class real>
real bound_volume(real volume) {
  return smaller(larger(volume, constant<real>(least_volume)), constant<real>(greatest_volume));
}

/// A gas that fills `volume` has no density, thus no pressure, if it was thinned out beyond all bounds.
template <class real, class Mask>
state<real> fill(real volume, Mask is_thin) {
  return {volume, is_thin ? real{} : 1.0 / volume};
}

/// The gas after the step.
template <class real>
state<real> state_after(const domain& at, index element) {
  const real volume = bound_volume(load<real>(at.new_volume, element));
  return fill(volume, volume >= greatest_volume);
}

/// Integrates the energy over the step. The first estimate takes the old pressure for half a step. The second
/// takes the pressure and viscosity in the middle of the step, and the third also those at its end.
template <class real>
void evaluate(domain& at, index element) {
  const real change = load<real>(at.volume_change, element);
  const real old_energy = load<real>(at.energy, element);
  const real old_viscosity = load<real>(at.viscosity, element);
  const real linear = load<real>(at.linear_viscosity, element);
  const real quadratic = load<real>(at.quadratic_viscosity, element);
  const state<real> after = state_after<real>(at, element);
  const auto is_thin = after.volume >= greatest_volume;
  const real half_volume = after.volume - 0.5 * change;
  const state<real> middle = fill(after.volume <= least_volume ? after.volume : half_volume, is_thin);
  const real old_pressure = is_thin ? real{} : load<real>(at.pressure, element);
  const real old_push = old_pressure + old_viscosity;
  const auto expands = change > real{};

  real energy = bound_energy(fused(-0.5 * change, old_push, old_energy));
  const real middle_pressure = middle.pressure(energy);
  const real middle_viscosity =
      expands ? real{} : fused(middle.sound_speed(energy, middle_pressure), linear, quadratic);
  const real middle_push = middle_pressure + middle_viscosity;

  const real second = fused(constant<real>(-4.0), middle_push, 3.0 * old_push);
  energy = bound_energy(cut(fused(0.5 * change, second, energy), cut_energy));
  real pressure = after.pressure(energy);
  real viscosity = expands ? real{} : fused(after.sound_speed(energy, pressure), linear, quadratic);

  const real third =
      fused(constant<real>(7.0), old_push, fused(constant<real>(-8.0), middle_push, pressure + viscosity));
  energy = bound_energy(cut(fused(change * (-1.0 / 6.0), third, energy), cut_energy));
  pressure = after.pressure(energy);
  viscosity = expands ? middle_viscosity
                      : cut(fused(after.sound_speed(energy, pressure), linear, quadratic), cut_viscosity);

  store(at.new_energy, element, energy);
  store(at.new_pressure, element, pressure);
  store(at.new_viscosity, element, viscosity);
}

/// Makes what was evaluated last the state of the elements.
template <class real>
void commit(domain& at, index element) {
  const state<real> after = state_after<real>(at, element);
  const real energy = load<real>(at.new_energy, element);
  const real pressure = load<real>(at.new_pressure, element);
  store(at.energy, element, energy);
  store(at.pressure, element, pressure);
  store(at.viscosity, element, load<real>(at.new_viscosity, element));
  store(at.sound_speed, element, after.sound_speed(energy, pressure));
  const real volume = load<real>(at.new_volume, element);
  store(at.volume, element, magnitude(volume - 1.0) < cut_volume ? constant<real>(1.0) : volume);
}

}  // namespace

void update_material(domain& at, index begin, index end) {
  auto run = std::ranges::upper_bound(at.regions, begin, {}, &region_run::end);
  for (; run != at.regions.end() && run->begin < end; ++run) {
    const index from = std::max(run->begin, begin), to = std::min(run->end, end);
    for (int repetition = 0; repetition < run->repetitions; ++repetition) {
      for_packs(from, to, [&](auto lane, index element) { evaluate<decltype(lane)>(at, element); });
      std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler shall not leave out a repetition
    }
  }
  for_packs(begin, end, [&](auto lane, index element) { commit<decltype(lane)>(at, element); });
}

}  // namespace teff::apps::lulesh
