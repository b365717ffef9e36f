#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/floors.hpp"

namespace teff::programs {

/// Branch and bound: rooms of a few shapes each are laid out on a floor, each beside or below the one before,
/// in the smallest rectangle. Each place of a room is a task with a separate floor. A greedy choice bounds
/// the branches, not the best result so far: so all systems visit the same nodes, in any order.
class floorplan {
 public:
  static constexpr std::int64_t most_rooms = 12;
  static constexpr description about{.name = "floorplan",
                                     .title = "smallest floor of rooms, a task a place",
                                     .needs = way::fork_join,
                                     .unit = "rooms",
                                     .sizes = {4, 8, 10},
                                     .most = most_rooms};

  explicit floorplan(std::int64_t rooms) {
    for (std::int64_t i = 0; i < rooms; ++i) {
      const auto side = [i](std::uint64_t which) {
        return static_cast<std::int8_t>(1 + mixed(3 * static_cast<std::uint64_t>(i) + which) % 4);
      };
      shapes_.push_back({room{0, 0, side(0), side(1)}, room{0, 0, side(1), side(2)}});
    }
    greedy_ = greedy();
  }

  template <class System>
  void run(System& system) {
    system.run_tasks([this] { best_ = search<System>(plan(), 0); });
  }
  [[nodiscard]] std::uint64_t checksum() const {
    return static_cast<std::uint64_t>(best_.area) * 1'000'000'007 + static_cast<std::uint64_t>(best_.nodes);
  }

  [[nodiscard]] std::int64_t area() const { return best_.area; }
  [[nodiscard]] std::int64_t greedy_area() const { return greedy_; }
  /// The squares of all rooms, each in its smaller shape: no floor is smaller.
  [[nodiscard]] std::int64_t least_area() const {
    std::int64_t sum = 0;
    for (const auto& [a, b] : shapes_) sum += std::min(a.height * a.width, b.height * b.width);
    return sum;
  }

 private:
  static constexpr std::size_t most_places = 2 * 2 * 8;  ///< shapes, sides, offsets
  static constexpr std::int64_t none = std::numeric_limits<std::int32_t>::max();

  struct found {
    std::int64_t area = none;
    std::int64_t nodes = 1;
  };
  struct plan {
    floor_rows taken{};
    room last{0, 0, 0, 0};
    int height = 0;
    int width = 0;
    [[nodiscard]] std::int64_t area() const { return std::int64_t{height} * width; }
  };

  /// Calls visit(room) for each place of a room: to the right of the last one, or below it, touching it.
  template <class Visit>
  void places(const plan& so_far, std::size_t number, const Visit& visit) const {
    for (room each : shapes_[number]) {
      const room& last = so_far.last;
      if (number == 0) {
        visit(each);
        continue;
      }
      const auto at = [&each, &visit](int top, int left) {
        each.top = static_cast<std::int8_t>(top);
        each.left = static_cast<std::int8_t>(left);
        visit(each);
      };
      for (int top = last.top - each.height + 1; top < last.top + last.height; ++top)
        at(top, last.left + last.width);
      for (int left = last.left - each.width + 1; left < last.left + last.width; ++left)
        at(last.top + last.height, left);
    }
  }
  [[nodiscard]] static bool add(plan& to, const room& each) {
    if (!lay(to.taken, each)) return false;
    to.last = each;
    to.height = std::max(to.height, each.top + each.height);
    to.width = std::max(to.width, each.left + each.width);
    return true;
  }

  /// Of each room the place that keeps the floor smallest.
  [[nodiscard]] std::int64_t greedy() const {
    plan so_far;
    for (std::size_t number = 0; number < shapes_.size(); ++number) {
      plan best;
      std::int64_t least = none;
      places(so_far, number, [&](const room& each) {
        plan next = so_far;
        if (add(next, each) && next.area() < least) {
          least = next.area();
          best = next;
        }
      });
      so_far = best;
    }
    return so_far.area();
  }

  template <class System>
  [[nodiscard]] found search(const plan& so_far, std::size_t number) const {
    if (number == shapes_.size()) return {so_far.area(), 1};
    std::array<found, most_places> below;
    std::size_t count = 0;
    System::scope([&](auto& tasks) {
      places(so_far, number, [&](const room& each) {
        tasks.spawn([this, &so_far, &into = below[count++], each, number] {
          plan next = so_far;
          if (add(next, each) && next.area() <= greedy_) into = search<System>(next, number + 1);
        });
      });
    });
    found all;
    for (std::size_t i = 0; i < count; ++i) {
      all.area = std::min(all.area, below[i].area);
      all.nodes += below[i].nodes;
    }
    return all;
  }

  std::vector<std::array<room, 2>> shapes_;
  std::int64_t greedy_ = 0;
  found best_;
};

}  // namespace teff::programs
