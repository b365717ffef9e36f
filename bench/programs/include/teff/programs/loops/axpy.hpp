#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"

namespace teff::programs {

/// y += a * x again and again, each time a loop that the main thread starts. The numbers are whole and stay
/// small, so that results don't depend on how a compiler rounds.
class axpy {
 public:
  axpy(std::int64_t length, std::int64_t times) : times_(times), x_(length), y_(length) {
    for (std::int64_t i = 0; i < length; ++i)
      x_[i] = static_cast<float>(mixed(static_cast<std::uint64_t>(i)) % 8);
  }

  void reset() {
    for (float& each : y_) each = 0;
  }
  template <class System>
  void run(System& system) {
    for (std::int64_t time = 0; time < times_; ++time) {
      const float a = time % 2 == 0 ? 3 : -2;
      system.parallel_for(0, x_.size(), 0,
                          [a, x = x_.data(), y = y_.data()](std::int64_t i) { y[i] += a * x[i]; });
    }
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(y_); }

 private:
  std::int64_t times_;
  buffer<float> x_;
  buffer<float> y_;
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
