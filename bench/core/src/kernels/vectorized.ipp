// The definitions of vectorized<I>, for the files that instantiate it; see vectors.hpp for what may be called
// here.

#include <cstring>
#include <utility>

#include "kernels/vectorized.hpp"
#include "kernels/vectors.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace teff::bench::kernels {
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

/// a = a * a + a in place.
template <class Vector>
[[gnu::always_inline]] inline void square_and_add_once(Vector& a) {
  if constexpr (fused) {
    a = a * a + a;
  } else {
    // Two-operand instructions. Compilers that may choose add a to the square in the square's register, and
    // then move all of a loop's registers (Clang: half the speed). A square that lives on can't be that
    // place.
    Vector square = a;
    forget(square);
    square *= square;
    a += square;
    forget(square);
  }
}

/// The vectors First, First + 1 ... of the values, counted round and round, stay in registers for all
/// `iterations`.
template <isa I, std::size_t First, std::size_t... J>
void square_and_add_block(double* values, std::int64_t iterations, std::index_sequence<J...>) {
  vector<I> a[] = {load<I>(values + (First + J) % square_vectors<I> * lanes<I>)...};
  for (; iterations > 0; --iterations) (square_and_add_once(a[J]), ...);
  (store<I>(values + (First + J) % square_vectors<I> * lanes<I>, a[J]), ...);
}

/// Goes round the values Laps times in blocks of (at the end, up to) Block vectors.
template <isa I, std::size_t Laps, std::size_t Block, std::size_t First = 0>
void square_and_add_laps(double* values, std::int64_t iterations_a_lap) {
  constexpr std::size_t left = Laps * square_vectors<I> - First;
  constexpr std::size_t size = left < Block ? left : Block;
  square_and_add_block<I, First>(values, iterations_a_lap, std::make_index_sequence<size>{});
  if constexpr (size < left) square_and_add_laps<I, Laps, Block, First + size>(values, iterations_a_lap);
}

/// All 64 multiplications are done, that by 1 too.
template <isa I, std::size_t... J>
double product(const double* values, std::index_sequence<J...>) {
  constexpr std::size_t half = sizeof...(J) / 2;
  vector<I> factors[] = {load<I>(values + J * lanes<I>)...};
  for (std::size_t step = half; step > 0; step /= 2)
    for (std::size_t j = 0; j < step; ++j) factors[j] *= factors[j + step];
  double result = 1;
  forget(result);
  for (std::size_t lane = 0; lane < lanes<I>; ++lane) result *= factors[0][lane];
  return result;
}

/// Two vectors of c as Sums partial sums each. `forget` keeps the compiler from computing a * b once for all.
template <isa I, std::size_t Sums, std::size_t... J>
void multiply_and_add_block(double* c, const double* a, const double* b, std::int64_t iterations,
                            std::index_sequence<J...>) {
  vector<I> a0 = load<I>(a), a1 = load<I>(a + lanes<I>);
  const vector<I> b0 = load<I>(b), b1 = load<I>(b + lanes<I>);
  vector<I> c0[Sums] = {load<I>(c)}, c1[Sums] = {load<I>(c + lanes<I>)};
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

// A fused multiply-add of today's processors takes 4 cycles, and two start each cycle: 8 chains of dependent
// ones keep the units busy if none is ever late. AVX-512's 64 values are just 8 chains, and on Zen 5 one
// start in 10 to 15 is late. Unrolling, padding and other orders were tried: they moved it by a few percent
// from run to run, not for good.
template <isa I>
double vectorized<I>::square_and_add(double* values, std::int64_t iterations) {
  constexpr std::size_t vectors = square_vectors<I>;
  if constexpr (vectors <= 16) {
    square_and_add_laps<I, 1, vectors>(values, iterations);
  } else {
    // 32 vectors, 16 registers, one of them for the square, and separate instructions take 7 cycles at two a
    // cycle: 14 chains are wanted. Going round three times makes 96 vectors, six blocks of 14 and one of 12.
    square_and_add_laps<I, 3, 14>(values, iterations / 3);
    if (iterations % 3) square_and_add_laps<I, 1, 8>(values, iterations % 3);
  }
  return product<I>(values, std::make_index_sequence<vectors>{});
}

template <isa I>
void vectorized<I>::multiply_and_add(double* c, const double* a, const double* b, std::int64_t iterations) {
  constexpr std::size_t sums = fused ? 6 : 4;  // two vectors of each of a and b, 2 * sums of c, and a product
  for (std::size_t i = 0; i < compute_bound2_values; i += 2 * lanes<I>)
    multiply_and_add_block<I, sums>(c + i, a + i, b + i, iterations, std::make_index_sequence<sums>{});
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

}  // namespace teff::bench::kernels
