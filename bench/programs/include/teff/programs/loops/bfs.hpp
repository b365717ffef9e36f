#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/links.hpp"

namespace teff::programs {

/// How far the vertices of a random graph are from the first one: breadth first, a loop over the vertices of
/// each distance. The thread that reaches a vertex first adds it to the list of the next distance.
class bfs {
 public:
  static constexpr description about{.name = "bfs",
                                     .title = "distances in a random graph, breadth first",
                                     .needs = way::loops,
                                     .unit = "vertices",
                                     .sizes = {3000, 1'000'000, 10'000'000},
                                     .most = 100'000'000};

  explicit bfs(std::int64_t vertices)
      : links_(vertices * degree), distances_(vertices), near_(vertices), far_(vertices) {
    for (std::int64_t i = 0; i < links_.size(); ++i)
      links_[i] = static_cast<std::int32_t>(mixed(static_cast<std::uint64_t>(i)) %
                                            static_cast<std::uint64_t>(vertices));
    reset();
  }

  void reset() {
    for (std::int32_t& each : distances_) each = unreached;
  }
  template <class System>
  void run(System& system) {
    system.run_loops([&] {
      distances_[0] = 0;
      near_[0] = 0;
      std::int64_t count = 1;
      for (std::int32_t distance = 1; count != 0; ++distance) {
        std::atomic<std::int64_t> reached{0};
        system.parallel_for(0, (count + block - 1) / block, 1, [&](std::int64_t part) {
          const std::int64_t first = part * block;
          const frontier from{near_.data() + first, count - first < block ? count - first : block};
          reach(links_.data(), from, distance, distances_.data(), {far_.data(), reached});
        });
        count = reached.load(std::memory_order_relaxed);
        std::swap(near_, far_);
      }
    });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(distances_); }

  [[nodiscard]] std::int32_t distance(std::int64_t vertex) const { return distances_[vertex]; }
  [[nodiscard]] const std::int32_t* links_of(std::int64_t vertex) const {
    return links_.data() + vertex * degree;
  }

 private:
  static constexpr std::int64_t block = 256;  ///< vertices

  buffer<std::int32_t> links_;
  buffer<std::int32_t> distances_;
  buffer<std::int32_t> near_;
  buffer<std::int32_t> far_;
};

}  // namespace teff::programs
