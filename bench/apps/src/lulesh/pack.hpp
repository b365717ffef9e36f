#pragma once

#ifdef __FMA__
#include <immintrin.h>
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "lulesh/arrays.hpp"

namespace teff::apps::lulesh {

/// The values of neighbouring elements or nodes, on which an arithmetic operator acts at once. A kernel is
/// written for a type `real`: pack for most of a range, double for what is left at its end. Both
/// round alike, so a value does not depend on how the range was cut.
using pack = double __attribute__((vector_size(4 * sizeof(double))));
using words_of_pack = std::uint64_t __attribute__((vector_size(4 * sizeof(double))));

template <class real>
inline constexpr index lanes = sizeof(real) / sizeof(double);

/// Calls body(real{}, first) for all of [begin, end): `first` is the first element (or node) of a real.
template <class Body>
inline void for_packs(index begin, index end, Body&& body) {
  index first = begin;
  for (; first + lanes<pack> <= end; first += lanes<pack>) body(pack{}, first);
  for (; first < end; ++first) body(double{}, first);
}

/// Calls body(constant) for each of 0 to count - 1. The compiler keeps an array of packs in registers only if
/// all its places are constants.
template <std::size_t count, class Body>
[[gnu::always_inline]] inline void unrolled(Body&& body) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (body(std::integral_constant<std::size_t, i>{}), ...);
  }(std::make_index_sequence<count>{});
}

template <class real>
inline real load(std::span<const double> from, index first) {
  real all;
  std::memcpy(&all, from.data() + first, sizeof all);
  return all;
}

template <class real>
inline void store(values to, index first, real all) {
  std::memcpy(to.data() + first, &all, sizeof all);
}

/// from[at[first]], from[at[first + 1]], ...
template <class real>
inline real gather(std::span<const double> from, std::span<const index> at, index first) {
  const double* const data = from.data();
  const index* const chosen = at.data() + first;
  if constexpr (lanes<real> == 1)
    return data[chosen[0]];
  else
    return real{data[chosen[0]], data[chosen[1]], data[chosen[2]], data[chosen[3]]};
}

template <class real>
inline real constant(double value) {
  return real{} + value;
}

/// a x b + c, rounded once where the processor has an instruction for it. The compiler may not choose where
/// to do so: it could choose otherwise for packs than for the elements at the end of a range.
#ifdef __FMA__
inline double fused(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
inline pack fused(pack a, pack b, pack c) {
  return _mm256_fmadd_pd(a, b, c);
}
#else
template <class real>
inline real fused(real a, real b, real c) {
  return a * b + c;
}
#endif

template <class real>
inline real smaller(real a, real b) {
  return a < b ? a : b;
}

template <class real>
inline real larger(real a, real b) {
  return a > b ? a : b;
}

template <class real>
inline real magnitude(real a) {
  return larger(a, -a);
}

/// `a`, or 0 if it is smaller than `least` in magnitude.
template <class real>
inline real cut(real a, double least) {
  return magnitude(a) < least ? real{} : a;
}

inline double square_root(double a) {
  return std::sqrt(a);
}
inline pack square_root(pack a) {
  return pack{std::sqrt(a[0]), std::sqrt(a[1]), std::sqrt(a[2]), std::sqrt(a[3])};
}

/// 1 / cube root of a positive number. The first guess takes a third of the exponent and is off by 4 % at
/// most. Each round raises the error to its third power.
template <class real>
inline real reciprocal_cube_root(real a) {
  using words = std::conditional_t<lanes<real> == 1, std::uint64_t, words_of_pack>;
  words bits;
  std::memcpy(&bits, &a, sizeof a);
  bits = 0x553ef0ff289dd794U - (((bits >> 32) * 0x55555556U) & 0xffffffff00000000U);
  real root;
  std::memcpy(&root, &bits, sizeof a);
  for (int round = 0; round < 3; ++round) {
    const real error = fused(-a * root, root * root, constant<real>(1.0));
    root = fused(root * error, fused(error, constant<real>(2.0 / 9.0), constant<real>(1.0 / 3.0)), root);
  }
  return root;
}

inline double least_lane(double a) {
  return a;
}
inline double least_lane(pack a) {
  return smaller(smaller(a[0], a[1]), smaller(a[2], a[3]));
}

}  // namespace teff::apps::lulesh
