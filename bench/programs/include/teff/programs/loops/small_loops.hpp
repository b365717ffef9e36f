#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"

namespace teff::programs {

/// Loops of 64 iterations that do next to nothing, one after the other: started by the main thread.
class small_loops {
 public:
  static constexpr description about{.name = "small_loops",
                                     .title = "loops of 64 iterations, from main",
                                     .needs = way::loops,
                                     .unit = "loops",
                                     .sizes = {20, 5000, 50'000},
                                     .most = 100'000'000};

  explicit small_loops(std::int64_t loops) : loops_(loops), cells_(iterations) {}

  void reset() {
    for (std::int64_t& cell : cells_) cell = 0;
  }
  template <class System>
  void run(System& system) {
    for (std::int64_t loop = 0; loop < loops_; ++loop)
      system.parallel_for(0, iterations, 0,
                          [loop, cells = cells_.data()](std::int64_t i) { cells[i] += i ^ loop; });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(cells_); }

 private:
  static constexpr std::int64_t iterations = 64;
  std::int64_t loops_;
  buffer<std::int64_t> cells_;
};

/// The same from where the system's users start many loops.
class small_loops_inside : public small_loops {
 public:
  static constexpr description about{.name = "small_loops_inside",
                                     .title = "loops of 64 iterations, from within",
                                     .needs = way::loops,
                                     .unit = "loops",
                                     .sizes = {20, 5000, 50'000},
                                     .most = 100'000'000};
  using small_loops::small_loops;

  template <class System>
  void run(System& system) {
    system.run_loops([&] { small_loops::run(system); });
  }
};

}  // namespace teff::programs
