#include "hpcg/checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace teff::apps::hpcg {
namespace {

double norm(const std::vector<double>& of) {
  return std::sqrt(std::inner_product(of.begin(), of.end(), of.begin(), 0.0));
}

/// Two vectors of `rows` random numbers from 1 to 2, the same each time.
std::pair<std::vector<double>, std::vector<double>> random_vectors(std::int32_t rows) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> from_1_to_2(1, 2);
  std::pair<std::vector<double>, std::vector<double>> made;
  for (std::vector<double>* each : {&made.first, &made.second})
    for (std::int32_t row = 0; row < rows; ++row) each->push_back(from_1_to_2(random));
  return made;
}

/// |u (m v) - v (m u)| / (2 || u || || m || || v || epsilon), where product(u, v) is u (m v), and || m || is
/// at most 52. Rounding alone explains a number up to 1.
template <class Product>
double asymmetry(const problem& of, Product product) {
  const auto [u, v] = random_vectors(of.rows());
  const double u_m_v = product(u, v);
  const double v_m_u = product(v, u);
  constexpr double norm_of_m = 52;
  return std::abs(u_m_v - v_m_u) /
         (2 * norm(u) * norm_of_m * norm(v) * std::numeric_limits<double>::epsilon());
}

}  // namespace

double recomputed_residual(const problem& of) {
  std::vector<double> r = of.b;
  for (std::size_t row = 0; row < r.size(); ++row)
    r[row] -= of.finest().a.product(static_cast<std::int32_t>(row), of.x.data());
  return norm(r) / norm(of.b);
}

double greatest_error(const problem& of) {
  double greatest = 0;
  for (const double each : of.x) greatest = std::max(greatest, std::abs(each - 1));
  return greatest;
}

double asymmetry_of_operator(problem& of, way& by) {
  return asymmetry(of, [&](const std::vector<double>& left, const std::vector<double>& right) {
    of.p = right;
    solution steps(of, by);
    steps.apply([](double) {});
    by.wait();
    return std::inner_product(left.begin(), left.end(), of.ap.begin(), 0.0);
  });
}

double asymmetry_of_preconditioner(problem& of, way& by) {
  return asymmetry(of, [&](const std::vector<double>& left, const std::vector<double>& right) {
    of.finest().r = right;
    solution steps(of, by);
    steps.precondition();
    by.wait();
    return std::inner_product(left.begin(), left.end(), of.finest().x.begin(), 0.0);
  });
}

}  // namespace teff::apps::hpcg
