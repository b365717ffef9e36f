#pragma once

#include <cstdint>
#include <vector>

#include "hpcg/domain.hpp"
#include "hpcg/matrix.hpp"
#include "hpcg/visiting.hpp"

namespace teff::apps::hpcg {

/// A grid of the multigrid preconditioner: the system a x = r, of which it makes x better.
struct level {
  domain part;
  matrix a;
  halo around;
  visiting order;
  std::vector<std::int32_t> finer;  ///< for each row, the row of the same point on the next finer level
  std::vector<double> r;
  std::vector<double> x;     ///< and its ghosts
  std::vector<double> sent;  ///< elements on their way to other ranks

  [[nodiscard]] std::int32_t rows() const { return a.rows(); }
};

/// A rank's part of the system of HPCG 3.1 on a box, and everything that a solution by conjugate gradients
/// needs on its way. The finest level's r is the residual of that solution, and its x the preconditioned
/// residual.
struct problem {
  explicit problem(const domain& part, std::int64_t rows_of_tile = 512);

  std::vector<level> levels;  ///< the finest first
  std::vector<double> b;
  std::vector<double> x;
  std::vector<double> p;      ///< the direction, and its ghosts
  std::vector<double> ap;     ///< a p
  std::vector<double> terms;  ///< of a sum, for each row
  double alpha = 0;           ///< the length of a step along p
  double beta = 0;            ///< the share of the last direction in the next one

  [[nodiscard]] level& finest() { return levels.front(); }
  [[nodiscard]] const level& finest() const { return levels.front(); }
  [[nodiscard]] std::int32_t rows() const { return finest().rows(); }
};

/// The operations of all ranks that HPCG counts for `iterations` preconditioned iterations.
[[nodiscard]] double flops(const problem& of, int iterations);

}  // namespace teff::apps::hpcg
