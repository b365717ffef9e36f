#pragma once

#include <cstdint>

#include "leanmd/problem.hpp"

namespace teff::apps::leanmd {

inline constexpr int steps_to_migration = 20;

// Each kernel takes a part [begin, end) of an index range. Threads may run the parts of one range at the same
// time.

/// The forces in some meetings. If the step `measures`, also the potential.
void interact(problem& p, bool measures, std::int64_t begin, std::int64_t end);

/// Moves the particles of some cells by one femtosecond under the forces of all meetings with the cell. If
/// the step `measures`, it computes the kinetic energy before.
void advance(problem& p, bool measures, std::int64_t begin, std::int64_t end);

/// Takes the particles out of some cells that are outside of the cell.
void leave(problem& p, std::int64_t begin, std::int64_t end);

/// Takes the particles into some cells that left other cells for them.
void arrive(problem& p, std::int64_t begin, std::int64_t end);

}  // namespace teff::apps::leanmd
