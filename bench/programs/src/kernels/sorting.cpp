#include "teff/programs/kernels/sorting.hpp"

#include <algorithm>

namespace teff::programs {

[[gnu::noinline, gnu::aligned(64)]] void sort_block(sort_keys keys) {
  std::ranges::sort(keys);
}

[[gnu::noinline, gnu::aligned(64)]] void merge_block(sort_keys a, sort_keys b, sort_keys merged) {
  std::ranges::merge(a, b, merged.begin());
}

}  // namespace teff::programs
