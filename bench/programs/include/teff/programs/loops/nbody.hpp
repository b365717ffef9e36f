#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/elements.hpp"

namespace teff::programs {

/// Bodies that attract each other, all pairs, for some steps: each step is a loop that computes, then a short
/// loop that moves.
class nbody {
 public:
  static constexpr description about{.name = "nbody",
                                     .title = "n bodies, all pairs, 10 steps",
                                     .needs = way::loops,
                                     .unit = "bodies",
                                     .sizes = {50, 1000, 4000},
                                     .most = 1'000'000};

  explicit nbody(std::int64_t count) : bodies_(count), velocities_(count), pulls_(count) { reset(); }

  void reset() {
    for (std::int64_t i = 0; i < bodies_.size(); ++i) {
      const auto seed = static_cast<std::uint64_t>(4 * i);
      bodies_[i] = {mixed_share(seed), mixed_share(seed + 1), mixed_share(seed + 2), mixed_share(seed + 3)};
      velocities_[i] = {};
    }
  }
  template <class System>
  void run(System& system) {
    system.run_loops([&] {
      for (int step = 0; step < steps; ++step) {
        system.parallel_for(0, bodies_.size(), 0, [this](std::int64_t i) {
          pulls_[i] = pull_on(bodies_[i], bodies_.data(), bodies_.size());
        });
        system.parallel_for(0, bodies_.size(), 0,
                            [this](std::int64_t i) { move_body(pulls_[i], velocities_[i], bodies_[i]); });
      }
    });
  }
  [[nodiscard]] std::uint64_t checksum() const {
    fingerprint all;
    for (const body& each : bodies_) {
      all.add(each.x);
      all.add(each.y);
      all.add(each.z);
    }
    return all.value();
  }

 private:
  static constexpr int steps = 10;
  buffer<body> bodies_;
  buffer<acceleration> velocities_;
  buffer<acceleration> pulls_;
};

}  // namespace teff::programs
