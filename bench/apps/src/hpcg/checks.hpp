#pragma once

#include <cstdint>

#include "hpcg/solve.hpp"

namespace teff::apps::hpcg {

/// || b - a x || / || b ||, from x alone.
[[nodiscard]] double recomputed_residual(const problem& of);

/// The greatest distance of x from the exact solution, which is 1 everywhere.
[[nodiscard]] double greatest_error(const problem& of);

/// How far the matrix is from symmetric. It changes p and ap.
[[nodiscard]] double asymmetry_of_operator(problem& of, way& by);

/// How far the preconditioner is from symmetric. It changes the finest level's r and x.
[[nodiscard]] double asymmetry_of_preconditioner(problem& of, way& by);

}  // namespace teff::apps::hpcg
