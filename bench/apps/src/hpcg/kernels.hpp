#pragma once

#include <cstdint>

#include "hpcg/problem.hpp"

namespace teff::apps::hpcg {

// Each kernel takes a part [begin, end) of an index range. Threads may run the parts of one range at the same
// time.

/// Copies elements of a vector to `sent`, for some elements of the level's messages.
void pack(level& at, const double* from, std::int64_t begin, std::int64_t end);

// --- the preconditioner, on one level

/// x = 0 in some rows or ghosts.
void clear(level& at, std::int64_t begin, std::int64_t end);
/// Solves the equations of some tiles of `order` for their unknowns, in ascending order.
void smooth_forwards(level& at, std::int64_t begin, std::int64_t end);
/// The same in descending order.
void smooth_backwards(level& at, std::int64_t begin, std::int64_t end);
/// The right-hand side of some rows of `coarse`: the residual of `fine` in the same points.
void restrict_residual(const level& fine, level& coarse, std::int64_t begin, std::int64_t end);
/// Adds x of some rows of `coarse` to `fine`, in the same points.
void correct(const level& coarse, level& fine, std::int64_t begin, std::int64_t end);

// --- conjugate gradients, on the finest level, for some rows each; a product of vectors as its terms

/// x = 0 and r = b, and the terms of r r.
void start(problem& of, std::int64_t begin, std::int64_t end);
/// z = r: no preconditioner.
void copy_residual(problem& of, std::int64_t begin, std::int64_t end);
/// The terms of r z.
void residual_product(problem& of, std::int64_t begin, std::int64_t end);
/// p = z + beta p.
void turn(problem& of, std::int64_t begin, std::int64_t end);
/// ap = a p, and the terms of p ap. It reads p in all rows.
void apply(problem& of, std::int64_t begin, std::int64_t end);
/// x += alpha p and r -= alpha ap, and the terms of r r.
void step(problem& of, std::int64_t begin, std::int64_t end);

}  // namespace teff::apps::hpcg
