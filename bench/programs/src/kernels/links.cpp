#include "teff/programs/kernels/links.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace teff::programs {

[[gnu::noinline, gnu::aligned(64)]] void reach(const std::int32_t* links, const frontier& from,
                                               std::int32_t distance, std::int32_t* distances,
                                               const reached_vertices& into) {
  std::array<std::int32_t, 64> found;  // put aside, so that threads seldom meet at the count
  std::size_t kept = 0;
  const auto pass_on = [&] {
    auto* const at =
        into.first + into.count.fetch_add(static_cast<std::int64_t>(kept), std::memory_order_relaxed);
    std::copy_n(found.data(), kept, at);
    kept = 0;
  };
  for (std::int64_t i = 0; i < from.count; ++i) {
    const std::int32_t* const to = links + from.first[i] * degree;
    for (std::int64_t each = 0; each < degree; ++each) {
      const std::atomic_ref<std::int32_t> its(distances[to[each]]);
      // Relaxed: the end of the loop passes on all that it has written.
      std::int32_t none = unreached;
      if (its.load(std::memory_order_relaxed) != unreached ||
          !its.compare_exchange_strong(none, distance, std::memory_order_relaxed))
        continue;
      found[kept++] = to[each];
      if (kept == found.size()) pass_on();
    }
  }
  if (kept != 0) pass_on();
}

}  // namespace teff::programs
