#include "leanmd/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <span>
#include <utility>

#include "teff/bench/failure.hpp"

namespace teff::apps::leanmd {
namespace {

constexpr int fewest_particles = 100;
constexpr int most_particles = 250;
constexpr double spacing = 3;              // of the lattice, in angstrom
constexpr double fastest_at_first = 0.01;  // along an axis, in angstrom per femtosecond
constexpr int least_side = 3;

/// The generator of drand48().
class random_numbers {
 public:
  explicit random_numbers(std::int32_t seed) : state_((std::uint64_t(seed) << 16) + 0x330e) {}
  /// In [0, 1).
  double next() { return static_cast<double>(state_()) * 0x1p-48; }

 private:
  std::linear_congruential_engine<std::uint64_t, 0x5deece66d, 0xb, std::uint64_t{1} << 48> state_;
};

/// Where a particle of a cell is on the cell's lattice of 5 x 5 x 10 points.
triple lattice_point(const place& of, int particle) {
  const auto along = [](int cell, int size, int point) { return (point + 0.5) * spacing + cell * size; };
  return {along(of.x, cell_size.x, particle / 50), along(of.y, cell_size.y, particle / 10 % 5),
          along(of.z, cell_size.z, particle % 10)};
}

void fill(cell& with, const box& space, std::int32_t number) {
  const int count = fewest_particles + number * (most_particles - fewest_particles) / space.count();
  random_numbers random(number);
  const auto velocity = [&] { return (random.next() - 0.5) * 2 * fastest_at_first; };
  for (int i = 0; i < count; ++i) {
    const triple at = lattice_point(space.at(number), i);
    with.position.push_back(at);
    const double x = velocity();  // in this order
    const double y = velocity();
    with.velocity.push_back({x, y, velocity()});
  }
}

/// Calls visit(offset) for half of the cells that a cell meets, itself first; of the other half, each cell
/// calls it for this one.
template <class Visit>
void visit_half_of_reach(Visit visit) {
  for (int x = 0; x <= reach.x; ++x)
    for (int y = -reach.y; y <= reach.y; ++y)
      for (int z = -reach.z; z <= reach.z; ++z)
        if (const place offset{x, y, z}; offset >= place{}) visit(offset);
}

/// LeanMD's rule: cells whose places differ by more than one along an axis meet over the side of the box.
double shift_along(int first, int second, int size_of_box) {
  if (std::abs(first - second) <= 1) return 0;
  return second < first ? -size_of_box : size_of_box;
}

meeting make_meeting(const box& space, const place& first, const place& second) {
  const place& cells = space.cells;
  return {.first = space.number(first),
          .second = space.number(second),
          .shift = {shift_along(first.x, second.x, cells.x * cell_size.x),
                    shift_along(first.y, second.y, cells.y * cell_size.y),
                    shift_along(first.z, second.z, cells.z * cell_size.z)}};
}

/// Makes the meetings of a cell and half of the cells around it. In a small box, two cells meet more than
/// once, as they do in LeanMD.
void add_meetings(problem& p, std::int32_t number) {
  const place first = p.space.at(number);
  visit_half_of_reach([&](const place& offset) {
    const auto index = static_cast<std::int32_t>(p.meetings.size());
    const meeting& added =
        p.meetings.emplace_back(make_meeting(p.space, first, p.space.moved(first, offset)));
    cell& a = p.cells[std::size_t(added.first)];
    a.meetings.push_back(index);
    if (added.is_within_a_cell()) return;
    cell& b = p.cells[std::size_t(added.second)];
    b.meetings.push_back(index);
    a.around.push_back(added.second);
    b.around.push_back(added.first);
  });
}

void keep_each_once(std::vector<std::int32_t>& list) {
  std::ranges::sort(list);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

std::pair<double, double> least_and_greatest(const std::vector<double>& of, std::size_t begin,
                                             std::size_t count) {
  const auto [least, greatest] = std::ranges::minmax(std::span(of).subspan(begin, count));
  return {least, greatest};
}

}  // namespace

problem::problem(const place& cells_a_side) : space{cells_a_side} {
  for (const int side : {cells_a_side.x, cells_a_side.y, cells_a_side.z})
    if (side < least_side)
      throw bench::usage_error(fmt::format("{} x {} x {} cells: a side has at least {}, as in 3x3x3",
                                           cells_a_side.x, cells_a_side.y, cells_a_side.z, least_side));
  cells.resize(std::size_t(space.count()));
  leaving.resize(cells.size());
  for (std::int32_t number = 0; number < space.count(); ++number) {
    fill(cells[std::size_t(number)], space, number);
    add_meetings(*this, number);
  }
  for (cell& each : cells) {
    keep_each_once(each.around);
    enclose(each);
  }
}

void enclose(cell& particles) {
  const triples& at = particles.position;
  particles.blocks.clear();
  for (std::size_t begin = 0; begin < at.size(); begin += particles_of_a_block) {
    const std::size_t count = std::min(particles_of_a_block, at.size() - begin);
    const auto [low_x, high_x] = least_and_greatest(at.x, begin, count);
    const auto [low_y, high_y] = least_and_greatest(at.y, begin, count);
    const auto [low_z, high_z] = least_and_greatest(at.z, begin, count);
    particles.blocks.push_back({{low_x, low_y, low_z}, {high_x, high_y, high_z}});
  }
}

energies measured(const problem& of) {
  energies sum;
  for (const meeting& each : of.meetings) sum.potential += each.potential;
  for (const cell& each : of.cells) sum.kinetic += each.kinetic;
  return sum;
}

triple total_velocity(const problem& of) {
  triple sum;
  for (const cell& each : of.cells)
    for (std::size_t i = 0; i < each.velocity.size(); ++i) {
      const triple velocity = each.velocity[i];
      sum = {sum.x + velocity.x, sum.y + velocity.y, sum.z + velocity.z};
    }
  return sum;
}

std::int64_t particles(const problem& of) {
  std::int64_t sum = 0;
  for (const cell& each : of.cells) sum += static_cast<std::int64_t>(each.position.size());
  return sum;
}

}  // namespace teff::apps::leanmd
