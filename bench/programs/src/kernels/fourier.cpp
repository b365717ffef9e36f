#include "teff/programs/kernels/fourier.hpp"

namespace teff::programs {
namespace {

/// Without the checks for infinite parts that operator* has.
complex product(complex a, complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void fft_unshuffle(const complex* points, complex* halves,
                                                       std::int64_t half, std::int64_t first,
                                                       std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) {
    halves[i] = points[2 * i];
    halves[half + i] = points[2 * i + 1];
  }
}

[[gnu::noinline, gnu::aligned(64)]] void fft_combine(const complex* halves, complex* points,
                                                     std::int64_t half, std::int64_t step,
                                                     const complex* roots, std::int64_t first,
                                                     std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) {
    const complex turned = product(roots[i * step], halves[half + i]);
    points[i] = halves[i] + turned;
    points[half + i] = halves[i] - turned;
  }
}

[[gnu::noinline, gnu::aligned(64)]] void fft_leaf(complex* points, complex* scratch, std::int64_t count,
                                                  std::int64_t step, const complex* roots) {
  if (count == 1) return;
  const std::int64_t half = count / 2;
  fft_unshuffle(points, scratch, half, 0, half);
  fft_leaf(scratch, points, half, 2 * step, roots);
  fft_leaf(scratch + half, points + half, half, 2 * step, roots);
  fft_combine(scratch, points, half, step, roots, 0, half);
}

}  // namespace teff::programs
