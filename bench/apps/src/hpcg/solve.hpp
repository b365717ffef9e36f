#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "hpcg/kernels.hpp"

namespace teff::apps::hpcg {

// How the kernels follow one another. `loops.each(count, kernel)` runs kernel(begin, end) for parts of [0,
// count), `loops.sum(count, kernel)` also adds up the results of the parts.

/// A forward and a backward sweep.
template <class Loops>
void smooth(level& at, Loops& loops) {
  const auto sweep_set = [&](std::size_t set, auto&& kernel) {
    const std::int64_t first = at.order.first[set];
    loops.each(at.order.first[set + 1] - first,
               [&](std::int64_t begin, std::int64_t end) { kernel(at, first + begin, first + end); });
  };
  for (std::size_t set = 0; set < at.order.sets(); ++set) sweep_set(set, smooth_forwards);
  for (std::size_t set = at.order.sets(); set-- > 0;) sweep_set(set, smooth_backwards);
}

/// One V-cycle from a level on: the level's x approximates the solution of a x = r.
template <class Loops>
void precondition(problem& of, Loops& loops, std::size_t depth = 0) {
  level& at = of.levels[depth];
  loops.each(at.rows(), [&](std::int64_t begin, std::int64_t end) { clear(at, begin, end); });
  smooth(at, loops);
  if (depth + 1 == of.levels.size()) return;
  level& coarse = of.levels[depth + 1];
  loops.each(coarse.rows(),
             [&](std::int64_t begin, std::int64_t end) { restrict_residual(at, coarse, begin, end); });
  precondition(of, loops, depth + 1);
  loops.each(coarse.rows(), [&](std::int64_t begin, std::int64_t end) { correct(coarse, at, begin, end); });
  smooth(at, loops);
}

struct limits {
  int iterations = 50;
  double tolerance = 0;  ///< of the scaled residual
  bool preconditioned = true;
};

struct outcome {
  int iterations = 0;
  double scaled_residual = 1;  ///< || r || / || b ||
};

/// Conjugate gradients from x = 0.
template <class Loops>
outcome solve(problem& of, Loops& loops, const limits& until = {}) {
  const std::int64_t rows = of.rows();
  const auto each = [&](auto&& kernel) {
    loops.each(rows, [&](std::int64_t begin, std::int64_t end) { kernel(of, begin, end); });
  };
  const auto sum = [&](auto&& kernel) {
    return loops.sum(rows, [&](std::int64_t begin, std::int64_t end) { return kernel(of, begin, end); });
  };

  const double norm_of_b = std::sqrt(sum(start));
  outcome reached;
  for (double rz = 0; reached.iterations < until.iterations && reached.scaled_residual > until.tolerance;
       ++reached.iterations) {
    if (until.preconditioned)
      precondition(of, loops);
    else
      each(copy_residual);
    const double rz_before = rz;
    rz = sum(residual_product);
    of.beta = reached.iterations == 0 ? 0 : rz / rz_before;
    each(turn);
    of.alpha = rz / sum(apply);
    reached.scaled_residual = std::sqrt(sum(step)) / norm_of_b;
  }
  return reached;
}

}  // namespace teff::apps::hpcg
