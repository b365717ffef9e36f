#pragma once

#include <cstddef>
#include <cstdint>

#include "teff/graphs/kernel.hpp"

namespace teff::graphs::kernels {

inline constexpr std::size_t compute_bound_values = 64;
inline constexpr std::size_t compute_bound2_values = 32;

/// The parts of the kernels whose speed depends on the instruction set. A file for each set (baseline.cpp,
/// avx2.cpp, avx512.cpp) compiles its functions from vectorized.ipp; call only a set that is supported().
///
/// The start of values is read, not copied first. A wide load of bytes that narrower stores have just written
/// waits until these stores have left the store buffer. All stores before them must leave it too, such as
/// that of the task's output to a cache line that another core holds.
template <isa I>
struct vectorized {
  /// a = a * a + a, `iterations` times on each of 64 values, from `start`; returns the product of the
  /// results.
  static double square_and_add(double* values, const double* start, std::int64_t iterations);

  /// c = c + a * b, `iterations` times on each of 32 values, from `start`.
  static void multiply_and_add(double* c, const double* start, const double* a, const double* b,
                               std::int64_t iterations);

  /// y = y + factor * x.
  static void add_scaled(double* y, const double* x, std::size_t count, double factor);

  /// Copies past the caches: the processor does not fetch the overwritten bytes first, which is a third less
  /// traffic than an ordinary copy. Other threads may not see the copy before stream_fence().
  static void stream_copy(double* to, const double* from, std::size_t count);
  static void stream_fence();
};

}  // namespace teff::graphs::kernels
