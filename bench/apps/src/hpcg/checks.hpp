#pragma once

#include <cstdint>

#include "hpcg/solve.hpp"

namespace teff::apps::hpcg {

// All ranks call each of them, and get the same number.

/// || b - a x || / || b ||, from x alone. It changes p and ap.
[[nodiscard]] double recomputed_residual(problem& of, way& by);

/// How far the matrix is from symmetric: rounding alone explains at most 1. It changes p and ap.
[[nodiscard]] double asymmetry_of_operator(problem& of, way& by);

/// How far the preconditioner is from symmetric. It changes the finest level's r and x.
[[nodiscard]] double asymmetry_of_preconditioner(problem& of, way& by);

/// HPCG's own check. It multiplies the diagonal and the right-hand side by 10^6, and in each of the first
/// nine rows also by its number + 2. Returns how many iterations lower the scaled residual to 10^-12: at most
/// two with the preconditioner, and twelve without. It changes all vectors but b.
[[nodiscard]] int iterations_with_large_diagonal(problem& of, way& by, bool preconditioned);

}  // namespace teff::apps::hpcg
