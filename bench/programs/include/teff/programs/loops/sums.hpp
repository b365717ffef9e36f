#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"

namespace teff::programs {

/// Whole numbers, whose sums are exact in any order.
[[nodiscard]] inline buffer<double> small_numbers(std::int64_t count) {
  buffer<double> numbers(count);
  for (std::int64_t i = 0; i < count; ++i)
    numbers[i] = static_cast<double>(mixed(static_cast<std::uint64_t>(i)) % 16);
  return numbers;
}

/// One long sum: as fast as memory.
class reduce {
 public:
  static constexpr description about{.name = "reduce",
                                     .title = "sum of a long array",
                                     .needs = way::loops,
                                     .unit = "numbers",
                                     .sizes = {5000, 20'000'000, 100'000'000},
                                     .most = 10'000'000'000};

  explicit reduce(std::int64_t count) : numbers_(small_numbers(count)) {}

  template <class System>
  void run(System& system) {
    total_ = system.template sum<double>(0, numbers_.size(), [this](std::int64_t i) { return numbers_[i]; });
  }
  [[nodiscard]] std::uint64_t checksum() const { return static_cast<std::uint64_t>(total_); }

 private:
  buffer<double> numbers_;
  double total_ = 0;
};

/// Many short sums, each started by the main thread.
class reductions {
 public:
  static constexpr description about{.name = "reductions",
                                     .title = "sums of 64 k numbers, from main",
                                     .needs = way::loops,
                                     .unit = "sums",
                                     .sizes = {3, 500, 5000},
                                     .most = 10'000'000};

  explicit reductions(std::int64_t sums) : sums_(sums), numbers_(small_numbers(length)) {}

  void reset() { total_ = 0; }
  template <class System>
  void run(System& system) {
    for (std::int64_t i = 0; i < sums_; ++i)
      total_ += system.template sum<double>(0, length, [this](std::int64_t each) { return numbers_[each]; });
  }
  [[nodiscard]] std::uint64_t checksum() const { return static_cast<std::uint64_t>(total_); }

 private:
  static constexpr std::int64_t length = 1 << 16;
  std::int64_t sums_;
  buffer<double> numbers_;
  double total_ = 0;
};

}  // namespace teff::programs
