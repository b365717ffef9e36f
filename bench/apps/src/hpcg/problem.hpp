#pragma once

#include <cstdint>
#include <vector>

#include "hpcg/matrix.hpp"
#include "hpcg/visiting.hpp"

namespace teff::apps::hpcg {

/// A grid of the multigrid preconditioner: the system a x = r, of which it makes x better.
struct level {
  box points;
  matrix a;
  visiting order;
  std::vector<std::int32_t> finer;  ///< for each row, the row of the same point on the next finer level
  std::vector<double> r;
  std::vector<double> x;

  [[nodiscard]] std::int32_t rows() const { return a.rows(); }
};

/// The system of HPCG 3.1 on a box, and everything that a solution by conjugate gradients needs on its way.
/// The finest level's r is the residual of that solution, and its x the preconditioned residual.
struct problem {
  /// Throws bench::usage_error unless each side has a multiple of 8 points: each of the four levels has half
  /// as many points a side as the level before it.
  problem(const box& points, sweep how);

  std::vector<level> levels;  ///< the finest first
  std::vector<double> b;
  std::vector<double> x;
  std::vector<double> p;      ///< the direction
  std::vector<double> ap;     ///< a p
  std::vector<double> terms;  ///< of a sum, for each row
  double alpha = 0;           ///< the length of a step along p
  double beta = 0;            ///< the share of the last direction in the next one

  [[nodiscard]] level& finest() { return levels.front(); }
  [[nodiscard]] const level& finest() const { return levels.front(); }
  [[nodiscard]] std::int32_t rows() const { return finest().rows(); }
};

/// Multiplies the diagonal and the right-hand side by 10^6, and in each of the first nine rows also by its
/// number + 2. HPCG's own check solves this system, which conjugate gradients solve in about ten steps.
void exaggerate_diagonal(problem& of);

/// The operations that HPCG counts for `iterations` preconditioned iterations.
[[nodiscard]] double flops(const problem& of, int iterations);

}  // namespace teff::apps::hpcg
