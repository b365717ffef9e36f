#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "teff/programs/description.hpp"

namespace teff::programs {

/// A tree of tasks, ten below each, whose leaves are summed up: nothing but spawns and waits.
class skynet {
 public:
  static constexpr description about{.name = "skynet",
                                     .title = "skynet, ten tasks below each",
                                     .needs = way::fork_join,
                                     .unit = "leaves, a power of ten",
                                     .sizes = {100, 1'000'000, 10'000'000},
                                     .most = 1'000'000'000};

  explicit skynet(std::int64_t leaves) {
    while (leaves_ * 10 <= leaves) leaves_ *= 10;
  }

  template <class System>
  void run(System& system) {
    system.run_tasks([this] { total_ = sum<System>(0, leaves_); });
  }
  [[nodiscard]] std::uint64_t checksum() const { return static_cast<std::uint64_t>(total_); }

 private:
  template <class System>
  [[nodiscard]] static std::int64_t sum(std::int64_t first, std::int64_t leaves) {
    if (leaves == 1) return first;
    std::array<std::int64_t, 10> sums{};
    System::scope([&](auto& tasks) {
      for (std::size_t child = 0; child < sums.size(); ++child)
        tasks.spawn([&sums, child, first, part = leaves / 10] {
          sums[child] = sum<System>(first + static_cast<std::int64_t>(child) * part, part);
        });
    });
    return std::accumulate(sums.begin(), sums.end(), std::int64_t{0});
  }

  std::int64_t leaves_ = 1;
  std::int64_t total_ = 0;
};

}  // namespace teff::programs
