// The definitions of vectorized<I>, for the files that instantiate it. vectors.hpp names the functions that
// they may call.

#include <cstdint>
#include <utility>

#include "kernels/vectorized.hpp"
#include "kernels/vectors.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace teff::graphs::kernels {
namespace {

template <isa I>
vector<I> load(const double* from) {
  vector<I> value;
  __builtin_memcpy(&value, from, sizeof(value));
  return value;
}

template <isa I>
void store(double* to, const vector<I>& value) {
  __builtin_memcpy(to, &value, sizeof(value));
}

template <isa I>
constexpr std::size_t square_vectors = compute_bound_values / lanes<I>;

/// One step of vector J of a block.
///
/// AVX-512 has 8 chains for its 64 values, which is what the units need if no start is ever late. Zen 5
/// starts a fused multiply-add late, one in 10 to 15, if its addend was just computed: the literal a * a + a
/// got to 0.90 to 0.93 of its peak. So b = b * b + 1/4 is computed there. It is the same for b = a + 1/2 and
/// takes as many operations, but its addend is no result: 1.00. On Zen 4, whose AVX-512 needs 4 chains, both
/// get to 1.00.
template <isa I, std::size_t J>
[[gnu::always_inline]] inline void square_and_add_once(vector<I>& a) {
  if constexpr (I != isa::avx512) {
    a = a * a + a;
  } else {
    a = a * a + 0.25;
    // With 8 chains Zen 5 settles in one of two rhythms, and one of them misses a start in 13. Given the work
    // piecemeal, it takes the other. Processors of four instructions a cycle have room for this.
    if constexpr (J % 4 != 3) {
      forget(a);
      asm volatile("nop");
    }
  }
}

template <isa I>
constexpr double square_shift = I == isa::avx512 ? 0.5 : 0;  // from the kernel's value to the iterated one

/// a = a * a + a, `iterations` times on the vectors First, First + 1 ... of the values, counted round and
/// round, from their values at `start`. They stay in registers.
template <isa I, std::size_t First, std::size_t... J>
void square_and_add_block(double* values, const double* start, std::int64_t iterations,
                          std::index_sequence<J...>) {
  vector<I> a[] = {(load<I>(start + (First + J) % square_vectors<I> * lanes<I>) + square_shift<I>)...};
  for (; iterations > 0; --iterations) (square_and_add_once<I, J>(a[J]), ...);
  (store<I>(values + (First + J) % square_vectors<I> * lanes<I>, a[J] - square_shift<I>), ...);
}

/// Goes round the values Laps times in blocks of (at the end, up to) Block vectors.
template <isa I, std::size_t Laps, std::size_t Block, std::size_t First = 0>
void square_and_add_laps(double* values, std::int64_t iterations_a_lap) {
  constexpr std::size_t left = Laps * square_vectors<I> - First;
  constexpr std::size_t size = left < Block ? left : Block;
  square_and_add_block<I, First>(values, values, iterations_a_lap, std::make_index_sequence<size>{});
  if constexpr (size < left) square_and_add_laps<I, Laps, Block, First + size>(values, iterations_a_lap);
}

template <std::size_t Lanes>
using doubles [[gnu::vector_size(Lanes * sizeof(double))]] = double;

template <std::size_t Lanes, std::size_t... J>
[[gnu::always_inline]] inline double product_of_lanes(const doubles<Lanes>& factors,
                                                      std::index_sequence<J...>) {
  if constexpr (Lanes == 2) {
    return factors[0] * factors[1];
  } else {
    const doubles<Lanes / 2> low = __builtin_shufflevector(factors, factors, J...);
    const doubles<Lanes / 2> high = __builtin_shufflevector(factors, factors, (J + Lanes / 2)...);
    return product_of_lanes<Lanes / 2>(low * high, std::make_index_sequence<Lanes / 4>{});
  }
}

/// All 64 multiplications, also by 1, form a tree. Nothing retires while they wait for each other, and the
/// next task's start waits as long.
template <isa I, std::size_t... J>
double product(const double* values, std::index_sequence<J...>) {
  constexpr std::size_t half = sizeof...(J) / 2;
  vector<I> factors[] = {load<I>(values + J * lanes<I>)...};
  for (std::size_t step = half; step > 0; step /= 2)
    for (std::size_t j = 0; j < step; ++j) factors[j] *= factors[j + step];
  double one = 1;
  forget(one);
  return one * product_of_lanes<lanes<I>>(factors[0], std::make_index_sequence<lanes<I> / 2>{});
}

/// Two vectors of c, from their values at `start`, as Sums partial sums each. `forget` keeps the compiler
/// from computing a * b once for all.
template <isa I, std::size_t Sums, std::size_t... J>
void multiply_and_add_block(double* c, const double* start, const double* a, const double* b,
                            std::int64_t iterations, std::index_sequence<J...>) {
  vector<I> a0 = load<I>(a), a1 = load<I>(a + lanes<I>);
  const vector<I> b0 = load<I>(b), b1 = load<I>(b + lanes<I>);
  vector<I> c0[Sums] = {load<I>(start)}, c1[Sums] = {load<I>(start + lanes<I>)};
  const auto step = [&](vector<I>& sum0, vector<I>& sum1) {
    forget(a0);
    sum0 += a0 * b0;
    forget(a1);
    sum1 += a1 * b1;
  };
  const auto rounds = iterations / static_cast<std::int64_t>(Sums);
  for (std::int64_t round = 0; round < rounds; ++round) (step(c0[J], c1[J]), ...);
  for (auto left = iterations % static_cast<std::int64_t>(Sums); left > 0; --left) step(c0[0], c1[0]);
  store<I>(c, (c0[J] + ...));
  store<I>(c + lanes<I>, (c1[J] + ...));
}

constexpr std::size_t line_bytes = 64;

/// `to` is aligned to the vector.
template <isa I>
[[gnu::always_inline]] inline void stream(double* to, const double* from) {
#if defined(__x86_64__)
  if constexpr (I == isa::avx512) _mm512_stream_pd(to, load<I>(from));
  if constexpr (I == isa::avx2) _mm256_stream_pd(to, load<I>(from));
  if constexpr (I == isa::baseline) _mm_stream_pd(to, load<I>(from));
#else
  store<I>(to, load<I>(from));
#endif
}

}  // namespace

// Two fused multiply-adds start in each cycle and take 4: 8 chains of dependent ones keep the units busy if
// none is ever late. The registers of AVX-512 and AVX2 hold all 64 values, in 8 and 16 chains. SSE2's
// registers don't, and separate instructions take 7 cycles and a copy of a. So there are 12 chains, which
// divide three rounds of the 32 vectors. The fewer iterations left over go in blocks of 8.
template <isa I>
double vectorized<I>::square_and_add(double* values, const double* start, std::int64_t iterations) {
  constexpr std::size_t vectors = square_vectors<I>;
  if constexpr (vectors <= 16) {
    square_and_add_block<I, 0>(values, start, iterations, std::make_index_sequence<vectors>{});
  } else {
    for (std::size_t i = 0; i < vectors; ++i) store<I>(values + i * lanes<I>, load<I>(start + i * lanes<I>));
    constexpr int laps = 3;
    if (iterations >= laps) square_and_add_laps<I, laps, 12>(values, iterations / laps);
    if (iterations % laps) square_and_add_laps<I, 1, 8>(values, iterations % laps);
  }
  return product<I>(values, std::make_index_sequence<vectors>{});
}

template <isa I>
void vectorized<I>::multiply_and_add(double* c, const double* start, const double* a, const double* b,
                                     std::int64_t iterations) {
  constexpr std::size_t sums = fused ? 6 : 4;  // two vectors of each of a and b, 2 * sums of c, and a product
  for (std::size_t i = 0; i < compute_bound2_values; i += 2 * lanes<I>)
    multiply_and_add_block<I, sums>(c + i, start + i, a + i, b + i, iterations,
                                    std::make_index_sequence<sums>{});
}

template <isa I>
void vectorized<I>::add_scaled(double* y, const double* x, std::size_t count, double factor) {
  constexpr std::size_t step = 4 * lanes<I>;
  std::size_t i = 0;
  for (; i + step <= count; i += step)
    for (std::size_t j = i; j < i + step; j += lanes<I>)
      store<I>(y + j, load<I>(y + j) + factor * load<I>(x + j));
  for (; i < count; ++i) y[i] += factor * x[i];
}

template <isa I>
void vectorized<I>::stream_copy(double* to, const double* from, std::size_t count) {
  constexpr std::size_t step = 4 * line_bytes / sizeof(double);
  while (count > 0 && reinterpret_cast<std::uintptr_t>(to) % line_bytes != 0) {
    *to++ = *from++;
    --count;
  }
  for (; count >= step; count -= step, to += step, from += step)
    for (std::size_t i = 0; i < step; i += lanes<I>) stream<I>(to + i, from + i);
  __builtin_memcpy(to, from, count * sizeof(double));
}

template <isa I>
void vectorized<I>::stream_fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace teff::graphs::kernels
