#include "lulesh/regions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace teff::apps::lulesh {
namespace {

/// The numbers of glibc's rand() after srand(seed): an additive feedback generator over 31 words.
class random_numbers {
 public:
  explicit random_numbers(std::uint32_t seed) {
    words_[0] = std::max(seed, 1U);
    for (std::size_t i = 1; i < words_.size(); ++i)
      words_[i] = static_cast<std::uint32_t>(std::uint64_t{words_[i - 1]} * 16807 % 2147483647);
    for (int skipped = 0; skipped < 310; ++skipped) below(1);
  }

  int below(int bound) {
    words_[next_] += words_[(next_ + 28) % words_.size()];
    const std::uint32_t word = words_[next_];
    next_ = (next_ + 1) % words_.size();
    return static_cast<int>(word >> 1) % bound;
  }

 private:
  std::array<std::uint32_t, 31> words_{};
  std::size_t next_ = 3;
};

/// A run has `least` to `least + spread - 1` elements if a number below 1000 is below `bound`.
struct run_length {
  int bound, least, spread;
};
constexpr std::array run_lengths{
    run_length{773, 1, 15},    run_length{937, 16, 16},   run_length{970, 32, 32},    run_length{974, 64, 64},
    run_length{978, 128, 128}, run_length{981, 256, 256}, run_length{1000, 512, 1537}};

int repetitions(const region_setting& at, int region) {
  if (region < at.count / 2) return 1;
  return region < at.count - (at.count + 15) / 20 ? 1 + at.cost : 10 * (1 + at.cost);
}

}  // namespace

std::vector<region_run> make_regions(const region_setting& at, index elements, int rank) {
  if (at.count == 1) return {{0, elements, 0, repetitions(at, 0)}};
  std::vector<int> shares(static_cast<std::size_t>(at.count));
  for (int region = 0; region < at.count; ++region)
    shares[static_cast<std::size_t>(region)] = static_cast<int>(std::pow(region + 1, at.balance));
  std::partial_sum(shares.begin(), shares.end(), shares.begin());

  random_numbers random(static_cast<std::uint32_t>(rank));
  const auto draw_region = [&] {
    const auto found = std::ranges::upper_bound(shares, random.below(shares.back()));
    return (static_cast<int>(found - shares.begin()) + rank) % at.count;
  };
  std::vector<region_run> runs;
  for (index begin = 0; begin < elements; begin = runs.back().end) {
    int region = draw_region();
    while (!runs.empty() && region == runs.back().region) region = draw_region();
    const int choice = random.below(1000);
    const auto length =
        std::ranges::find_if(run_lengths, [choice](const auto& each) { return choice < each.bound; });
    const index end = std::min<index>(elements, begin + length->least + random.below(length->spread));
    runs.push_back({begin, end, region, repetitions(at, region)});
  }
  return runs;
}

}  // namespace teff::apps::lulesh
