#include "teff/graphs/random.hpp"

#include <bit>

namespace teff::graphs {
namespace {

struct siphash_state {
  std::uint64_t v0, v1, v2, v3;

  void round() {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }

  void absorb(std::uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

constexpr std::uint64_t key_low = 0x0807060504030201;
constexpr std::uint64_t key_high = 0x000f0e0d0c0b0a09;

}  // namespace

std::uint64_t random_bits(std::span<const std::int64_t> words) {
  siphash_state state{key_low ^ 0x736f6d6570736575, key_high ^ 0x646f72616e646f6d,
                      key_low ^ 0x6c7967656e657261, key_high ^ 0x7465646279746573};
  for (const std::int64_t word : words) state.absorb(static_cast<std::uint64_t>(word));
  state.absorb(static_cast<std::uint64_t>(words.size_bytes()) << 56);  // whole words: no tail bytes
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

double uniform(std::span<const std::int64_t> words) {
  // 2^64 - 1 rounds up to 2^64 as a double, so the greatest draws would give 1.0. The published function has
  // the same edge, and the graphs must stay identical to the published ones.
  return static_cast<double>(random_bits(words)) * 0x1p-64;
}

}  // namespace teff::graphs
