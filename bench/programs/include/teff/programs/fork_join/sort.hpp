#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/sorting.hpp"

namespace teff::programs {

/// Merge sort of 32-bit integers, with merges that are parallel, too.
class sort {
 public:
  static constexpr description about{.name = "sort",
                                     .title = "merge sort with parallel merges",
                                     .needs = way::fork_join,
                                     .unit = "keys",
                                     .sizes = {10'000, 1 << 20, 1 << 22},
                                     .most = std::int64_t{1} << 32};

  explicit sort(std::int64_t keys) : keys_(keys), scratch_(keys) { reset(); }

  void reset() {
    for (std::int64_t i = 0; i < keys_.size(); ++i)
      keys_[i] = static_cast<std::int32_t>(mixed(static_cast<std::uint64_t>(i)));
  }
  template <class System>
  void run(System& system) {
    system.run_tasks([this] {
      sort_range<System>({keys_.begin(), keys_.end()}, {scratch_.begin(), scratch_.end()}, false);
    });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(keys_); }
  [[nodiscard]] const buffer<std::int32_t>& keys() const { return keys_; }

 private:
  static constexpr std::size_t block = 2048;  ///< keys that are sorted or merged in one go

  /// Leaves the keys sorted where they are, or in the other place.
  template <class System>
  static void sort_range(sort_keys keys, sort_keys other, bool into_other) {
    if (keys.size() <= block) {
      sort_block(keys);
      if (into_other) std::ranges::copy(keys, other.begin());
      return;
    }
    const std::size_t half = keys.size() / 2;
    System::invoke([&] { sort_range<System>(keys.first(half), other.first(half), !into_other); },
                   [&] { sort_range<System>(keys.subspan(half), other.subspan(half), !into_other); });
    const sort_keys from = into_other ? keys : other;
    merge<System>(from.first(half), from.subspan(half), into_other ? other : keys);
  }

  /// The middle key of the longer one divides both.
  template <class System>
  static void merge(sort_keys a, sort_keys b, sort_keys merged) {
    if (merged.size() <= block) return merge_block(a, b, merged);
    if (a.size() < b.size()) std::swap(a, b);
    const std::size_t left = a.size() / 2;
    const auto right = static_cast<std::size_t>(std::ranges::lower_bound(b, a[left]) - b.begin());
    System::invoke([&] { merge<System>(a.first(left), b.first(right), merged.first(left + right)); },
                   [&] { merge<System>(a.subspan(left), b.subspan(right), merged.subspan(left + right)); });
  }

  buffer<std::int32_t> keys_;
  buffer<std::int32_t> scratch_;
};

}  // namespace teff::programs
