#include <algorithm>
#include <cstddef>

#include "leanmd/kernels.hpp"

namespace teff::apps::leanmd {
namespace {

constexpr double mass = 1.67e-24;     // of hydrogen, in grams
constexpr double fastest = 0.1;       // along an axis, in angstrom per femtosecond
constexpr double energy_unit = 1e10;  // of 1 g (angstrom / femtosecond)^2, in millijoules
constexpr double push =
    1 / (mass * energy_unit);  // what a force of 1 mJ / angstrom adds to a velocity in 1 fs

double kinetic_energy(const triples& velocity) {
  double sum = 0;
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const triple v = velocity[i];
    sum += v.x * v.x + v.y * v.y + v.z * v.z;
  }
  return mass / 2 * energy_unit * sum;
}

void add(std::vector<double>& sum, const std::vector<double>& added) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += added[i];
}

void move(std::vector<double>& position, std::vector<double>& velocity, const std::vector<double>& force) {
  for (std::size_t i = 0; i < position.size(); ++i) {
    velocity[i] = std::clamp(velocity[i] + force[i] * push, -fastest, fastest);
    position[i] += velocity[i];
  }
}

}  // namespace

void advance(problem& p, bool measures, std::int64_t begin, std::int64_t end) {
  for (auto number = begin; number < end; ++number) {
    cell& each = p.cells[std::size_t(number)];
    triples& force = each.force;
    force.clear(each.position.size());
    for (const std::int32_t index : each.meetings) {
      const meeting& with = p.meetings[std::size_t(index)];
      const triples& added = with.first == number ? with.force_on_first : with.force_on_second;
      add(force.x, added.x);
      add(force.y, added.y);
      add(force.z, added.z);
    }
    if (measures) each.kinetic = kinetic_energy(each.velocity);
    move(each.position.x, each.velocity.x, force.x);
    move(each.position.y, each.velocity.y, force.y);
    move(each.position.z, each.velocity.z, force.z);
    enclose(each);
  }
}

}  // namespace teff::apps::leanmd
