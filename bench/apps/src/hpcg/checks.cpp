#include "hpcg/checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <vector>

namespace teff::apps::hpcg {
namespace {

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Adds up the numbers of all ranks.
void add_up(way& by, std::span<double> numbers) {
  const field name(numbers);
  by.over().reduce(name, reduction::sum);
  by.wait();
}

std::vector<double> random_vector(std::int32_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> from_1_to_2(1, 2);
  std::vector<double> made;
  for (std::int32_t row = 0; row < rows; ++row) made.push_back(from_1_to_2(random));
  return made;
}

/// |u (m v) - v (m u)| / (2 || u || || m || || v || epsilon), where multiply(v) is m v, and || m || is at
/// most
/// 52. Rounding alone explains a number up to 1. The vectors are the same each time.
template <class Multiply>
double asymmetry(const problem& of, way& by, Multiply multiply) {
  const auto seed = 2 * static_cast<unsigned>(of.finest().part.rank());
  const std::vector<double> u = random_vector(of.rows(), seed);
  const std::vector<double> v = random_vector(of.rows(), seed + 1);
  std::array sums{product(u, multiply(v)), product(v, multiply(u)), product(u, u), product(v, v)};
  add_up(by, sums);
  const auto [u_m_v, v_m_u, u_u, v_v] = sums;
  constexpr double norm_of_m = 52;
  return std::abs(u_m_v - v_m_u) /
         (2 * std::sqrt(u_u) * norm_of_m * std::sqrt(v_v) * std::numeric_limits<double>::epsilon());
}

/// Calls scale(number, factor) for each number that iterations_with_large_diagonal() multiplies by a factor.
template <class Scale>
void for_large_diagonal(problem& of, Scale scale) {
  level& top = of.finest();
  for (std::int32_t row = 0; row < of.rows(); ++row) {
    const std::int32_t number = top.part.row_of_all(row);
    const double factor = 1e6 * (number < 9 ? number + 2 : 1);
    scale(top.a.values[std::size_t(top.a.diagonal[std::size_t(row)])], factor);
    scale(of.b[std::size_t(row)], factor);
  }
}

}  // namespace

double recomputed_residual(problem& of, way& by) {
  std::ranges::copy(of.x, of.p.begin());
  solution steps(of, by);
  steps.apply([](double) {});
  by.wait();
  std::array<double, 2> squares{};
  for (std::size_t row = 0; row < of.b.size(); ++row) {
    squares[0] += (of.b[row] - of.ap[row]) * (of.b[row] - of.ap[row]);
    squares[1] += of.b[row] * of.b[row];
  }
  add_up(by, squares);
  return std::sqrt(squares[0] / squares[1]);
}

double asymmetry_of_operator(problem& of, way& by) {
  return asymmetry(of, by, [&](const std::vector<double>& v) -> const std::vector<double>& {
    std::ranges::copy(v, of.p.begin());
    solution steps(of, by);
    steps.apply([](double) {});
    by.wait();
    return of.ap;
  });
}

double asymmetry_of_preconditioner(problem& of, way& by) {
  return asymmetry(of, by, [&](const std::vector<double>& v) {
    of.finest().r = v;
    solution steps(of, by);
    steps.precondition();
    by.wait();
    return std::vector<double>(of.finest().x.begin(), of.finest().x.begin() + of.rows());
  });
}

int iterations_with_large_diagonal(problem& of, way& by, bool preconditioned) {
  for_large_diagonal(of, [](double& number, double factor) { number *= factor; });
  const outcome found = solution(of, by).solve({.tolerance = 1e-12, .preconditioned = preconditioned});
  for_large_diagonal(of, [](double& number, double factor) { number /= factor; });  // exact: of integers
  return found.iterations;
}

}  // namespace teff::apps::hpcg
