#include "teff/programs/kernels/tiles.hpp"

#include <cmath>

namespace teff::programs {
namespace {

constexpr std::int64_t n = tile_rows;

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void tile_cholesky(double* tile) {
  for (std::int64_t k = 0; k < n; ++k) {
    double* const column = tile + k * n;
    column[k] = std::sqrt(column[k]);
    for (std::int64_t i = k + 1; i < n; ++i) column[i] /= column[k];
    for (std::int64_t j = k + 1; j < n; ++j)
      for (std::int64_t i = j; i < n; ++i) tile[j * n + i] -= column[i] * column[j];
  }
  for (std::int64_t j = 1; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) tile[j * n + i] = 0;
}

[[gnu::noinline, gnu::aligned(64)]] void tile_solve(const double* diagonal, double* __restrict tile) {
  for (std::int64_t k = 0; k < n; ++k) {
    double* const column = tile + k * n;
    const double pivot = diagonal[k * n + k];
    for (std::int64_t i = 0; i < n; ++i) column[i] /= pivot;
    for (std::int64_t j = k + 1; j < n; ++j) {
      const double factor = diagonal[k * n + j];
      for (std::int64_t i = 0; i < n; ++i) tile[j * n + i] -= factor * column[i];
    }
  }
}

[[gnu::noinline, gnu::aligned(64)]] void tile_update(const double* a, const double* b,
                                                     double* __restrict tile) {
  for (std::int64_t j = 0; j < n; ++j) {
    double* const column = tile + j * n;
    for (std::int64_t k = 0; k < n; k += 4) {  // four at a time: the column is read and written less often
      const double f0 = b[k * n + j];
      const double f1 = b[(k + 1) * n + j];
      const double f2 = b[(k + 2) * n + j];
      const double f3 = b[(k + 3) * n + j];
      const double* const from = a + k * n;
      for (std::int64_t i = 0; i < n; ++i)
        column[i] -= f0 * from[i] + f1 * from[n + i] + f2 * from[2 * n + i] + f3 * from[3 * n + i];
    }
  }
}

}  // namespace teff::programs
