#pragma once

#include <algorithm>
#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/elements.hpp"

namespace teff::programs {

/// How often each of 4096 keys occurs: a histogram a block, then their sums, bin by bin.
class histogram {
 public:
  static constexpr description about{.name = "histogram",
                                     .title = "histogram of 4096 bins",
                                     .needs = way::loops,
                                     .unit = "keys",
                                     .sizes = {5000, 10'000'000, 100'000'000},
                                     .most = 10'000'000'000};

  explicit histogram(std::int64_t keys) : keys_(keys), partial_(blocks * bins), counts_(bins) {
    for (std::int64_t i = 0; i < keys; ++i)
      keys_[i] = static_cast<std::uint16_t>(mixed(static_cast<std::uint64_t>(i)) % bins);
  }

  template <class System>
  void run(System& system) {
    system.run_loops([&] {
      system.parallel_for(0, blocks, 1, [this](std::int64_t block) {
        const std::int64_t first = block * keys_.size() / blocks;
        const std::int64_t last = (block + 1) * keys_.size() / blocks;
        count_keys(keys_.data() + first, last - first, partial_.data() + block * bins, bins);
      });
      system.parallel_for(0, bins, 0, [this](std::int64_t bin) {
        std::int64_t total = 0;
        for (std::int64_t block = 0; block < blocks; ++block) total += partial_[block * bins + bin];
        counts_[bin] = total;
      });
    });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(counts_); }
  [[nodiscard]] const buffer<std::uint16_t>& keys() const { return keys_; }
  [[nodiscard]] const buffer<std::int64_t>& counts() const { return counts_; }

 private:
  static constexpr std::int64_t bins = 4096;
  static constexpr std::int64_t blocks = 64;

  buffer<std::uint16_t> keys_;
  buffer<std::int64_t> partial_;
  buffer<std::int64_t> counts_;
};

}  // namespace teff::programs
