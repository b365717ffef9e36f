#include <algorithm>
#include <cstddef>
#include <limits>
#include <ranges>

#include "leanmd/kernels.hpp"

namespace teff::apps::leanmd {
namespace {

// The potential of two particles at a distance r, in angstrom and millijoules, is repulsion / r^12 -
// attraction / r^6.
constexpr double repulsion = 1.1328e-13;
constexpr double attraction = 2.23224e-16;
constexpr double cutoff = 26;
constexpr double nearest = 1;  // nearer particles don't interact, nor does a particle with itself

/// The force on a particle from others, and the potential.
struct effect {
  triple force;
  double potential = 0;
};

bool is_near(const triple& at, const bounds& others) {
  const auto away = [](double from, double low, double high) {
    return std::max({low - from, from - high, 0.0});
  };
  const double dx = away(at.x, others.low.x, others.high.x);
  const double dy = away(at.y, others.low.y, others.high.y);
  const double dz = away(at.z, others.low.z, others.high.z);
  return dx * dx + dy * dy + dz * dz < cutoff * cutoff;
}

/// The effect of the particles [begin, end) of a cell on a particle. If `mutual`, it adds the opposite forces
/// to `opposite`.
template <bool mutual, bool measures>
effect meet(const triple& at, const triples& others, std::size_t begin, std::size_t end, triples& opposite) {
  const double* const x = others.x.data();
  const double* const y = others.y.data();
  const double* const z = others.z.data();
  double* const opposite_x = opposite.x.data();
  double* const opposite_y = opposite.y.data();
  double* const opposite_z = opposite.z.data();
  double force_x = 0;
  double force_y = 0;
  double force_z = 0;
  double potential = 0;
#pragma omp simd reduction(+ : force_x, force_y, force_z, potential)
  for (std::size_t i = begin; i < end; ++i) {
    const double dx = at.x - x[i];
    const double dy = at.y - y[i];
    const double dz = at.z - z[i];
    const double squared = dx * dx + dy * dy + dz * dz;
    const bool meets = (squared > nearest * nearest) & (squared < cutoff * cutoff);
    const double inverse = 1 / (meets ? squared : std::numeric_limits<double>::infinity());
    const double sixth = inverse * inverse * inverse;
    const double repelled = repulsion * sixth * sixth;
    const double attracted = attraction * sixth;
    const double scale = (12 * repelled - 6 * attracted) * inverse;
    force_x += scale * dx;
    force_y += scale * dy;
    force_z += scale * dz;
    if constexpr (mutual) {
      opposite_x[i] -= scale * dx;
      opposite_y[i] -= scale * dy;
      opposite_z[i] -= scale * dz;
    }
    if constexpr (measures) potential += repelled - attracted;
  }
  return {.force = {force_x, force_y, force_z}, .potential = potential};
}

template <bool mutual, bool measures>
void meet_all(const problem& p, meeting& of) {
  const triples& first = p.cells[std::size_t(of.first)].position;
  const cell& second = p.cells[std::size_t(of.second)];
  const std::size_t others = second.position.size();
  of.force_on_first.resize(first.size());
  if (mutual) of.force_on_second.clear(others);
  of.potential = 0;
  const auto begin_of = [&](auto block) {
    return std::min(std::size_t(block - second.blocks.begin()) * particles_of_a_block, others);
  };
  for (std::size_t i = 0; i < first.size(); ++i) {
    const triple at = first[i];
    const triple shifted{at.x + of.shift.x, at.y + of.shift.y, at.z + of.shift.z};
    const auto near = [&](const bounds& block) { return is_near(shifted, block); };
    const auto first_near = std::ranges::find_if(second.blocks, near);
    const auto past_near = std::ranges::find_if(second.blocks | std::views::reverse, near).base();
    const effect got = meet<mutual, measures>(shifted, second.position, begin_of(first_near),
                                              begin_of(past_near), of.force_on_second);
    of.force_on_first.set(i, got.force);
    of.potential += got.potential;
  }
  if (!mutual) of.potential /= 2;  // within a cell, each of two particles has met the other
}

}  // namespace

void interact(problem& p, bool measures, std::int64_t begin, std::int64_t end) {
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
    meeting& each = p.meetings[i];
    if (each.is_within_a_cell())
      measures ? meet_all<false, true>(p, each) : meet_all<false, false>(p, each);
    else
      measures ? meet_all<true, true>(p, each) : meet_all<true, false>(p, each);
  }
}

}  // namespace teff::apps::leanmd
