#pragma once

#include <cstddef>
#include <cstdint>

#include "teff/graphs/kernel.hpp"

namespace teff::graphs {

/// The references of the kernels. Nothing here shares code with them.

/// As many multiply-adds at a time as the units take, and nothing else; the faster one is the peak. (Where
/// multiplication and addition are separate instructions, the one may run short of registers and the other of
/// decoders.) Both return the floating-point operations they did. Compiled once for each instruction set.
template <isa I>
struct fma_peak {
  /// Chains of x = x * a + b.
  static std::int64_t dependent(std::int64_t iterations);
  /// Chains of x = x + a * b.
  static std::int64_t independent(std::int64_t iterations);
};

/// STREAM's copy loop as this compiler compiles it.
void stream_copy_compiled(double* to, const double* from, std::size_t count);

/// STREAM's copy loop with non-temporal stores, as compilers write it with streaming enabled. `to` is aligned
/// to 16 bytes and `count` even; where the architecture has no such stores, the same as compiled.
void stream_copy_streaming(double* to, const double* from, std::size_t count);

}  // namespace teff::graphs
