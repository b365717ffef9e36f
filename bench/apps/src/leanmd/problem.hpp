#pragma once

#include <cstdint>
#include <vector>

#include "leanmd/cells.hpp"

namespace teff::apps::leanmd {

/// A particle on its way to another cell.
struct migrant {
  std::int32_t to = 0;
  triple position;
  triple velocity;
};

/// Two cells whose particles may be in each other's cutoff, or a cell and itself.
struct meeting {
  std::int32_t first = 0;
  std::int32_t second = 0;
  triple shift;            ///< brings the first cell to the second one, if they meet over a side of the box
  triples force_on_first;  ///< in millijoules per angstrom
  triples force_on_second;
  double potential = 0;  ///< in millijoules, if the step measures it

  [[nodiscard]] bool is_within_a_cell() const { return first == second; }
};

/// The box around some particles.
struct bounds {
  triple low;
  triple high;
};

/// The particles of a block follow one another in their cell. At first a block is a layer of the lattice.
inline constexpr std::size_t particles_of_a_block = 50;

struct cell {
  triples position;                    ///< in angstrom
  std::vector<bounds> blocks;          ///< around each block of particles, by enclose()
  triples velocity;                    ///< in angstrom per femtosecond
  triples force;                       ///< of all meetings, in millijoules per angstrom
  double kinetic = 0;                  ///< in millijoules, if the step measures it
  std::vector<std::int32_t> meetings;  ///< the meetings with this cell
  std::vector<std::int32_t> around;    ///< the other cells from which particles may come
};

/// The molecular dynamics of LeanMD: hydrogen atoms in a periodic box of cells, with a Lennard-Jones
/// potential that ends at a cutoff. Each meeting has its own forces, so all meetings may be computed at the
/// same time.
struct problem {
  /// From 100 atoms in the first cell to nearly 250 in the last, on a lattice with random velocities. Throws
  /// bench::usage_error unless there are at least three cells along each side.
  explicit problem(const place& cells);

  box space;
  std::vector<cell> cells;
  std::vector<meeting> meetings;
  std::vector<std::vector<migrant>> leaving;  ///< by the cell that they leave
};

struct energies {
  double potential = 0;
  double kinetic = 0;
};

/// Renews the bounds of a cell whose particles have moved.
void enclose(cell& particles);

/// The energies of the last step that measured them.
[[nodiscard]] energies measured(const problem& of);

/// The sum of all velocities. Only rounding changes it while no velocity reaches the limit.
[[nodiscard]] triple total_velocity(const problem& of);

[[nodiscard]] std::int64_t particles(const problem& of);

}  // namespace teff::apps::leanmd
