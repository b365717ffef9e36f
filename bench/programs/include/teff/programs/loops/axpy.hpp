#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"

namespace teff::programs {

/// y += a * x again and again, each time a loop that the main thread starts. The numbers are whole and stay
/// small, so that results don't depend on how a compiler rounds.
class axpy {
 public:
  axpy(std::int64_t length, std::int64_t times) : times_(times), both_(2 * length) {
    for (std::int64_t i = 0; i < length; ++i)
      both_[i] = static_cast<float>(mixed(static_cast<std::uint64_t>(i)) % 8);
  }

  void reset() {
    for (float& each : y()) each = 0;
  }
  template <class System>
  void run(System& system) {
    for (std::int64_t time = 0; time < times_; ++time) {
      const float a = time % 2 == 0 ? 3 : -2;
      system.parallel_for(0, both_.size() / 2, 0,
                          [a, x = both_.data(), y = y().data()](std::int64_t i) { y[i] += a * x[i]; });
    }
  }
  [[nodiscard]] std::uint64_t checksum() const {
    fingerprint all;
    for (const float each : y()) all.add(each);
    return all.value();
  }

 private:
  [[nodiscard]] std::span<float> y() const {
    return std::span(both_.data(), both_.end()).subspan(static_cast<std::size_t>(both_.size() / 2));
  }

  std::int64_t times_;
  /// x, then y. In separate memory they might lie 64 bytes more than some pages apart. Then a load of x waits
  /// for a store of y with the same last twelve bits.
  buffer<float> both_;
};

/// In a core's caches.
class axpy_16k : public axpy {
 public:
  static constexpr description about{.name = "axpy_16k",
                                     .title = "axpy of 16 k floats, from main",
                                     .needs = way::loops,
                                     .unit = "loops",
                                     .sizes = {10, 2000, 20'000},
                                     .most = 1'000'000};
  explicit axpy_16k(std::int64_t times) : axpy(1 << 14, times) {}
};

/// In memory.
class axpy_16m : public axpy {
 public:
  static constexpr description about{.name = "axpy_16m",
                                     .title = "axpy of a long array of floats",
                                     .needs = way::loops,
                                     .unit = "floats",
                                     .sizes = {10'000, 16'000'000, 160'000'000},
                                     .most = 1'000'000'000};
  explicit axpy_16m(std::int64_t length) : axpy(length, 4) {}
};

}  // namespace teff::programs
