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

std::pair<std::vector<double>, std::vector<double>> random_vectors(std::int32_t rows) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> from_1_to_2(1, 2);
  std::pair<std::vector<double>, std::vector<double>> made;
  for (std::vector<double>* each : {&made.first, &made.second})
    for (std::int32_t row = 0; row < rows; ++row) each->push_back(from_1_to_2(random));
  return made;
}

double departure_from_symmetry(double u_m_v, double v_m_u, const std::vector<double>& u,
                               const std::vector<double>& v) {
  constexpr double norm_of_m = 52;
  return std::abs(u_m_v - v_m_u) /
         (2 * norm(u) * norm_of_m * norm(v) * std::numeric_limits<double>::epsilon());
}

}  // namespace teff::apps::hpcg
