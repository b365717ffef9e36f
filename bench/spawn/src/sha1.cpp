#include "teff/spawn/sha1.hpp"

#include <bit>

#if TEFF_SHA_NI
#include <cpuid.h>
#endif

namespace teff::spawn {
namespace {

constexpr digest initial{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

/// The parts that depend on the quarter of the eighty rounds: a function of three words, and a constant.
template <int Quarter>
constexpr std::uint32_t mix(std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  if constexpr (Quarter == 0) return ((b & c) | (~b & d)) + 0x5a827999;
  if constexpr (Quarter == 1) return (b ^ c ^ d) + 0x6ed9eba1;
  if constexpr (Quarter == 2) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  if constexpr (Quarter == 3) return (b ^ c ^ d) + 0xca62c1d6;
}

/// The next word of the schedule, which stands in a ring of sixteen.
std::uint32_t scheduled(block& ring, unsigned round) {
  if (round >= 16)
    ring[round & 15] = std::rotl(
        ring[(round + 13) & 15] ^ ring[(round + 8) & 15] ^ ring[(round + 2) & 15] ^ ring[round & 15], 1);
  return ring[round & 15];
}

template <int Quarter>
void twenty_rounds(digest& state, block& ring) {
  auto& [a, b, c, d, e] = state;
  for (unsigned round = Quarter * 20; round < Quarter * 20 + 20; ++round) {
    const std::uint32_t next = std::rotl(a, 5) + mix<Quarter>(b, c, d) + e + scheduled(ring, round);
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
}

}  // namespace

#if TEFF_SHA_NI
bool has_sha_ni() {
  constexpr unsigned sha = 1U << 29;     // of leaf 7, ebx
  constexpr unsigned sse4_1 = 1U << 19;  // of leaf 1, ecx
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & sse4_1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & sha) != 0;
}
#else
bool has_sha_ni() {
  return false;
}

digest sha1_ni(const block& message) {
  return sha1_portable(message);
}
#endif

namespace {

using implementation = digest (*)(const block&);
const implementation fastest = has_sha_ni() ? sha1_ni : sha1_portable;

}  // namespace

digest sha1(const block& message) {
  return fastest(message);
}

std::string_view sha1_implementation() {
  return fastest == sha1_ni ? "sha-ni" : "portable";
}

digest sha1_portable(const block& message) {
  digest state = initial;
  block ring = message;
  twenty_rounds<0>(state, ring);
  twenty_rounds<1>(state, ring);
  twenty_rounds<2>(state, ring);
  twenty_rounds<3>(state, ring);
  for (std::size_t word = 0; word < state.size(); ++word) state[word] += initial[word];
  return state;
}

}  // namespace teff::spawn
