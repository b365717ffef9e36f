#pragma once

#include <complex>
#include <cstdint>

namespace teff::programs {

using complex = std::complex<double>;

/// A whole transform of `count` points, where they are. roots[i * step] is the i-th root of one.
void fft_leaf(complex* points, complex* scratch, std::int64_t count, std::int64_t step, const complex* roots);
/// Separates the even and odd elements, for [first, last) of each half.
void fft_unshuffle(const complex* points, complex* halves, std::int64_t half, std::int64_t first,
                   std::int64_t last);
/// Combines the transforms of both halves.
void fft_combine(const complex* halves, complex* points, std::int64_t half, std::int64_t step,
                 const complex* roots, std::int64_t first, std::int64_t last);

}  // namespace teff::programs
