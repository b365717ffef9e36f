#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/search.hpp"

namespace teff::programs {

/// Branch and bound: the most valuable items that fit. Each item is taken or left, which is a fork. A share
/// of a greedy result bounds the branches, not the best result so far: so all systems visit the same nodes,
/// in any order.
class knapsack {
 public:
  static constexpr description about{.name = "knapsack",
                                     .title = "knapsack, a fork an item",
                                     .needs = way::fork_join,
                                     .unit = "items",
                                     .sizes = {12, 30, 36},
                                     .most = 48};

  explicit knapsack(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto weight = static_cast<std::int64_t>(100 + mixed(static_cast<std::uint64_t>(2 * i)) % 900);
      const auto value = static_cast<std::int64_t>(mixed(static_cast<std::uint64_t>(2 * i + 1)) % 200);
      items_.push_back({weight + value, weight});
      capacity_ += weight;
    }
    capacity_ /= 2;
    std::ranges::sort(items_, [](const knapsack_item& a, const knapsack_item& b) {
      const std::int64_t ahead = a.value * b.weight - b.value * a.weight;
      return ahead != 0 ? ahead > 0 : a.weight < b.weight;
    });
    std::int64_t left = capacity_;
    for (const knapsack_item& each : items_)
      if (each.weight <= left) {
        left -= each.weight;
        greedy_ += each.value;
      }
  }

  template <class System>
  void run(System& system) {
    system.run_tasks([this] { best_ = search<System>(0, capacity_, 0); });
  }
  [[nodiscard]] std::uint64_t checksum() const {
    return static_cast<std::uint64_t>(best_.value) * 1'000'003 + static_cast<std::uint64_t>(best_.nodes);
  }

  [[nodiscard]] const std::vector<knapsack_item>& items() const { return items_; }
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] std::int64_t best() const { return best_.value; }

 private:
  struct found {
    std::int64_t value;
    std::int64_t nodes;
  };
  static constexpr double slack =
      0.995;  ///< branches are left if they can't reach this share of the greedy choice

  template <class System>
  [[nodiscard]] found search(std::size_t item, std::int64_t capacity, std::int64_t value) const {
    if (capacity < 0) return {0, 1};
    if (item == items_.size() || capacity == 0) return {value, 1};
    if (best_hope(items_[item], capacity, value) < slack * static_cast<double>(greedy_)) return {0, 1};
    found left{};
    found taken{};
    System::invoke(
        [&] { taken = search<System>(item + 1, capacity - items_[item].weight, value + items_[item].value); },
        [&] { left = search<System>(item + 1, capacity, value); });
    return {std::max(left.value, taken.value), left.nodes + taken.nodes + 1};
  }

  std::vector<knapsack_item> items_;  // the items of the most value for their weight first
  std::int64_t capacity_ = 0;
  std::int64_t greedy_ = 0;
  found best_{};
};

}  // namespace teff::programs
