#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "teff/apps/tiled_matrix.hpp"
#include "teff/apps/values.hpp"

/// The check of a result: products with a vector take N^2 operations where the result took N^3.
namespace teff::apps {

using vector = std::vector<double>;

/// Adds up what all ranks have at each place, on all of them.
using summation = std::function<void(std::span<double>)>;

/// Which part of a tile counts.
enum class part : std::uint8_t { whole, lower };

/// A vector without zeros, the same on all ranks.
[[nodiscard]] vector random_vector(int size);
/// to := to + T from.
void add_product(const tile& t, part which, const double* from, double* to);
/// to := to + T^T from.
void add_transposed_product(const tile& t, part which, const double* from, double* to);
[[nodiscard]] double norm(std::span<const double> x);
/// || x - y ||
[[nodiscard]] double distance(std::span<const double> x, std::span<const double> y);

/// A x, and || A || of all elements (Frobenius). The matrix's values are made anew, so no run can have spoilt
/// them.
struct made_product {
  vector ax;
  double norm = 0;
};
[[nodiscard]] made_product multiply_made(const values& a, const tiled_matrix& like, const vector& x,
                                         const summation& add_up);

/// The largest residual that rounding alone explains.
[[nodiscard]] double residual_bound(int size);

}  // namespace teff::apps
