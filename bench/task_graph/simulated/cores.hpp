#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "machine.hpp"
#include "teff/graphs/random.hpp"

namespace teff::simulated {

/// Random numbers of one seed.
class dice {
 public:
  explicit dice(std::uint64_t seed) : state_(graphs::mix(seed + step)) {}

  /// In [0, 1).
  [[nodiscard]] double share() { return static_cast<double>(graphs::mix(state_ += step) >> 11) * 0x1p-53; }
  [[nodiscard]] double exponential(double mean) { return -mean * std::log1p(-share()); }

 private:
  static constexpr std::uint64_t step = 0x9e3779b97f4a7c15;
  std::uint64_t state_;
};

/// The cores of all nodes, and the detours of their operating systems. A detour stops one core at a random
/// moment of wall time. A core that waits absorbs it. A core that works is late by all of it. The same seed
/// gives a core the same detours with any work.
class cores {
 public:
  cores(const machine& on, int count, std::uint64_t seed) : noise_(on.noise) {
    for (const detours& each : noise_) rate_ += each.rate / on.cores;
    for (int i = 0; i < count; ++i) {
      core& one = all_.emplace_back(dice(graphs::mix(seed) + static_cast<std::uint64_t>(i)));
      one.due = next(one);
    }
  }

  /// The moment from which on a core has nothing to do.
  [[nodiscard]] double& free(int index) { return all_[static_cast<std::size_t>(index)].free; }

  /// When work of this length ends on a core that begins it no sooner than then.
  [[nodiscard]] double end_of(int index, double begin, double length) {
    core& one = all_[static_cast<std::size_t>(index)];
    return one.due < begin + length ? detoured(one, begin, length) : begin + length;
  }

 private:
  struct core {
    explicit core(dice own) : random(own) {}
    double free = 0;
    double due = 0;  ///< the moment of its next detour
    dice random;
  };

  [[gnu::noinline]] double detoured(core& one, double begin, double length) const {
    double end = begin + length;
    while (one.due < end) {
      const double detour = one.random.exponential(length_of_one(one));
      const double lost = one.due < begin ? std::max(0.0, one.due + detour - begin) : detour;
      if (one.due < begin) begin += lost;
      end += lost;
      one.due += detour + next(one);
    }
    return end;
  }
  [[nodiscard]] double next(core& one) const {
    return rate_ > 0 ? one.random.exponential(1 / rate_) : std::numeric_limits<double>::infinity();
  }
  /// The mean length of the kind that the next detour is of.
  [[nodiscard]] double length_of_one(core& one) const {
    if (noise_.size() == 1) return noise_.front().length;
    double sum = 0;
    for (const detours& each : noise_) sum += each.rate;
    double left = one.random.share() * sum;
    for (const detours& each : noise_)
      if ((left -= each.rate) < 0) return each.length;
    return noise_.back().length;
  }

  std::vector<detours> noise_;
  double rate_ = 0;  ///< of a core
  std::vector<core> all_;
};

}  // namespace teff::simulated
