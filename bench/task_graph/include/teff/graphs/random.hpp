#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

namespace teff::graphs {

/// SipHash-2-4 with 64-bit output and the key bytes 01 02 .. 0f 00, over `words` as little-endian 64-bit
/// integers. The published Task Bench draws its random graphs from this very function, so that graphs and
/// imbalances are identical to its, bit for bit.
[[nodiscard]] std::uint64_t random_bits(std::span<const std::int64_t> words);

/// u(words): `random_bits` scaled to [0, 1).
[[nodiscard]] double uniform(std::span<const std::int64_t> words);

[[nodiscard]] inline double uniform(std::initializer_list<std::int64_t> words) {
  return uniform(std::span(words.begin(), words.size()));
}

/// A bijective 64-bit finalizer (the variant 13 of Stafford's for MurmurHash3), cheap enough for a task's
/// critical path: it spreads a task's identity over the validation checksum.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace teff::graphs
