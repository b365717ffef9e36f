#include "teff/programs/kernels/lu.hpp"

namespace teff::programs {
namespace {

constexpr std::int64_t n = lu_block;

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void lu_diagonal(double* block) {
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = block[i * n + k] /= block[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) block[i * n + j] -= factor * block[k * n + j];
    }
}

[[gnu::noinline, gnu::aligned(64)]] void lu_right(const double* diagonal, double* __restrict block) {
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = k + 1; i < n; ++i) {
      const double factor = diagonal[i * n + k];
      for (std::int64_t j = 0; j < n; ++j) block[i * n + j] -= factor * block[k * n + j];
    }
}

[[gnu::noinline, gnu::aligned(64)]] void lu_below(const double* diagonal, double* __restrict block) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < n; ++k) {
      const double factor = block[i * n + k] /= diagonal[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) block[i * n + j] -= factor * diagonal[k * n + j];
    }
}

[[gnu::noinline, gnu::aligned(64)]] void lu_inner(const double* below, const double* right,
                                                  double* __restrict block) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < n; ++k) {
      const double factor = below[i * n + k];
      for (std::int64_t j = 0; j < n; ++j) block[i * n + j] -= factor * right[k * n + j];
    }
}

}  // namespace teff::programs
