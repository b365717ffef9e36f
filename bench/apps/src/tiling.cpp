#include "teff/apps/tiling.hpp"

#include <algorithm>
#include <random>

namespace teff::apps {
namespace {

constexpr std::uint32_t seed = 2020;

/// Extents, one after the other. The distributions of the standard library are not the same everywhere.
class extents {
 public:
  extents(int block, block_sizes sizes)
      : least_(sizes == block_sizes::equal ? block : (block + 1) / 2),
        most_(sizes == block_sizes::equal ? block : block + block / 2) {}

  int next() { return least_ + static_cast<int>(random_() % static_cast<std::uint32_t>(most_ - least_ + 1)); }

 private:
  int least_;
  int most_;
  std::mt19937 random_{seed};
};

}  // namespace

tiling::tiling(int size, int block, block_sizes sizes) : block_(std::min(block, size)), ends_{0} {
  extents drawn(block, sizes);
  while (ends_.back() < size) {
    const int extent = std::min(drawn.next(), size - ends_.back());
    largest_ = std::max(largest_, extent);
    ends_.push_back(ends_.back() + extent);
  }
}

}  // namespace teff::apps
