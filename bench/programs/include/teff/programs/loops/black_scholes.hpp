#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/elements.hpp"

namespace teff::programs {

/// Values of options, one by one.
class black_scholes {
 public:
  static constexpr description about{.name = "black_scholes",
                                     .title = "Black-Scholes values of options",
                                     .needs = way::loops,
                                     .unit = "options",
                                     .sizes = {1000, 500'000, 4'000'000},
                                     .most = 1'000'000'000};

  explicit black_scholes(std::int64_t options) : options_(options), values_(options) {
    for (std::int64_t i = 0; i < options; ++i) {
      const auto seed = static_cast<std::uint64_t>(5 * i);
      options_[i] = {.price = 50 + 100 * mixed_share(seed),
                     .strike = 50 + 100 * mixed_share(seed + 1),
                     .rate = 0.01 + 0.05 * mixed_share(seed + 2),
                     .volatility = 0.1 + 0.5 * mixed_share(seed + 3),
                     .years = 0.25 + 2 * mixed_share(seed + 4)};
    }
  }

  template <class System>
  void run(System& system) {
    system.parallel_for(0, options_.size(), 0,
                        [this](std::int64_t i) { values_[i] = call_value(options_[i]); });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(values_); }
  [[nodiscard]] const buffer<double>& values() const { return values_; }

 private:
  buffer<stock_option> options_;
  buffer<double> values_;
};

}  // namespace teff::programs
