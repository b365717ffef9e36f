#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/patients.hpp"

namespace teff::programs {

/// A country's health: villages in a tree, each with a hospital. People fall ill, wait, are examined, and are
/// treated, or sent on to the hospital above. Each village is a task in each step of time. When the villages
/// below have done their step, a hospital takes up the patients that they sent on, in order.
class health {
 public:
  static constexpr description about{.name = "health",
                                     .title = "health of a country, a task a village and step",
                                     .needs = way::fork_join,
                                     .unit = "steps",
                                     .sizes = {20, 300, 2000},
                                     .most = 100'000};

  explicit health(std::int64_t steps) : steps_(steps) { reset(); }

  void reset() {
    villages_ = 0;
    country_ = make(levels);
  }
  template <class System>
  void run(System& system) {
    system.run_tasks([this] {
      for (std::int64_t step = 0; step < steps_; ++step) simulate<System>(country_);
    });
  }
  [[nodiscard]] std::uint64_t checksum() const {
    fingerprint all;
    add(country_, all);
    return all.value();
  }

  /// People that fell ill; people that were treated or are still ill.
  [[nodiscard]] std::int64_t fell_ill() const { return count(country_).first; }
  [[nodiscard]] std::int64_t accounted_for() const { return count(country_).second; }

 private:
  static constexpr int levels = 5;
  static constexpr std::size_t below_each = 4;

  struct village {
    hospital own;
    std::vector<village> below;
  };

  [[nodiscard]] village make(int level) {
    village made{hospital(villages_++, level), {}};
    if (level > 1)
      for (std::size_t i = 0; i < below_each; ++i) made.below.push_back(make(level - 1));
    return made;
  }

  template <class System>
  static void simulate(village& of) {
    System::scope([&of](auto& tasks) {
      for (village& each : of.below) tasks.spawn([&each] { simulate<System>(each); });
      step(of.own);
    });
    for (village& each : of.below) take_up(of.own, each.own);
  }

  static void add(const village& of, fingerprint& all) {
    all.add(of.own.fell_ill);
    all.add(of.own.treated);
    all.add(of.own.waited);
    for (const village& each : of.below) add(each, all);
  }
  [[nodiscard]] static std::pair<std::int64_t, std::int64_t> count(const village& of) {
    std::pair sums{of.own.fell_ill, of.own.treated + of.own.ill()};
    for (const village& each : of.below) {
      const auto [ill, accounted] = count(each);
      sums.first += ill;
      sums.second += accounted;
    }
    return sums;
  }

  std::int64_t steps_;
  std::uint64_t villages_ = 0;
  village country_;
};

}  // namespace teff::programs
