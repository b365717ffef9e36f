#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "hpcg/solve.hpp"

namespace teff::apps::hpcg {

/// || b - a x || / || b ||, from x alone.
[[nodiscard]] double recomputed_residual(const problem& of);

/// The greatest distance of x from the exact solution, which is 1 everywhere.
[[nodiscard]] double greatest_error(const problem& of);

/// Two vectors of `rows` random numbers from 1 to 2, the same each time.
[[nodiscard]] std::pair<std::vector<double>, std::vector<double>> random_vectors(std::int32_t rows);

/// |u (m v) - v (m u)| / (2 || u || || m || || v || epsilon), where || m || is at most 52. Rounding alone
/// explains a number up to 1.
[[nodiscard]] double departure_from_symmetry(double u_m_v, double v_m_u, const std::vector<double>& u,
                                             const std::vector<double>& v);

/// How far the matrix is from symmetric. It changes p and ap.
template <class Loops>
double asymmetry_of_operator(problem& of, Loops& loops) {
  const auto [u, v] = random_vectors(of.rows());
  const auto product = [&](const std::vector<double>& left, const std::vector<double>& right) {
    of.p = right;
    loops.sum(of.rows(), [&](std::int64_t begin, std::int64_t end) { return apply(of, begin, end); });
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * of.ap[i];
    return sum;
  };
  const double u_a_v = product(u, v);
  return departure_from_symmetry(u_a_v, product(v, u), u, v);
}

/// How far the preconditioner is from symmetric. It changes the finest level's r and x.
template <class Loops>
double asymmetry_of_preconditioner(problem& of, Loops& loops) {
  const auto [u, v] = random_vectors(of.rows());
  const auto product = [&](const std::vector<double>& left, const std::vector<double>& right) {
    of.finest().r = right;
    precondition(of, loops);
    double sum = 0;
    for (std::size_t i = 0; i < left.size(); ++i) sum += left[i] * of.finest().x[i];
    return sum;
  };
  const double u_m_v = product(u, v);
  return departure_from_symmetry(u_m_v, product(v, u), u, v);
}

}  // namespace teff::apps::hpcg
