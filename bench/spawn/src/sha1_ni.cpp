// SHA-1 by the processor's own instructions, four rounds each, on vectors whose highest lane is the first
// word. Compiled with -msha: nothing here may run before has_sha_ni() was asked.
#include <immintrin.h>

#include <utility>

#include "teff/spawn/sha1.hpp"

namespace teff::spawn {
namespace {

/// The state between two instructions: a to d, and the a to d of four rounds ago, from which e is computed.
struct lanes {
  __m128i abcd;
  __m128i before;
};

template <std::size_t Four>
void four_rounds(lanes& state, __m128i initial_e, __m128i (&words)[4]) {
  __m128i& now = words[Four & 3];
  const __m128i e = Four == 0 ? _mm_add_epi32(initial_e, now) : _mm_sha1nexte_epu32(state.before, now);
  state.before = state.abcd;
  state.abcd = _mm_sha1rnds4_epu32(state.abcd, e, Four / 5);
  if constexpr (Four < 16) {
    // The four words of the schedule that come sixteen after these, whose place they take.
    const __m128i part = _mm_xor_si128(_mm_sha1msg1_epu32(now, words[(Four + 1) & 3]), words[(Four + 2) & 3]);
    now = _mm_sha1msg2_epu32(part, words[(Four + 3) & 3]);
  }
}

__m128i reversed(__m128i lanes) {
  return _mm_shuffle_epi32(lanes, 0x1b);
}

}  // namespace

digest sha1_ni(const block& message) {
  const __m128i initial_abcd =
      _mm_set_epi32(0x67452301, static_cast<int>(0xefcdab89), static_cast<int>(0x98badcfe), 0x10325476);
  const __m128i initial_e = _mm_set_epi32(static_cast<int>(0xc3d2e1f0), 0, 0, 0);
  __m128i words[4];
  for (std::size_t i = 0; i < 4; ++i)
    words[i] = reversed(_mm_loadu_si128(reinterpret_cast<const __m128i*>(message.data() + 4 * i)));
  lanes state{initial_abcd, initial_abcd};
  [&]<std::size_t... Four>(std::index_sequence<Four...>) {
    (four_rounds<Four>(state, initial_e, words), ...);
  }(std::make_index_sequence<20>{});
  digest sum;
  const __m128i abcd = reversed(_mm_add_epi32(state.abcd, initial_abcd));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(sum.data()), abcd);
  sum[4] = static_cast<std::uint32_t>(_mm_extract_epi32(_mm_sha1nexte_epu32(state.before, initial_e), 3));
  return sum;
}

}  // namespace teff::spawn
