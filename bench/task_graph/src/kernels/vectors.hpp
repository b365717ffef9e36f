#pragma once

// For the files that are compiled for one instruction set each. The linker keeps one copy of an inline
// function for the whole program, and must not keep one with instructions that the processor lacks. So such a
// file calls only these inline functions, whose names carry the set, and functions of anonymous namespaces.

#include <cstddef>

#include "teff/graphs/kernel.hpp"

namespace teff::graphs::kernels {

template <isa I>
inline constexpr std::size_t lanes = I == isa::avx512 ? 8
                                     : I == isa::avx2 ? 4
                                                      : 2;

/// As many doubles as a register of the set holds.
template <isa I>
using vector [[gnu::vector_size(lanes<I> * sizeof(double))]] = double;

#if defined(__FMA__) || defined(__aarch64__)
inline constexpr bool fused = true;
#else
inline constexpr bool fused = false;
#endif

/// Makes the compiler forget all it knows about a value in a register, at no cost. It then computes the
/// value, and neither folds nor hoists its uses.
template <class T>
[[gnu::always_inline]] inline void forget(T& value) {
#if defined(__x86_64__)
  asm volatile("" : "+v"(value));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(value));
#else
  asm volatile("" : "+m"(value));
#endif
}

}  // namespace teff::graphs::kernels
