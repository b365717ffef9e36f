#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/elements.hpp"

namespace teff::programs {

/// The Mandelbrot set, a row an iteration. Rows take very different times.
class mandelbrot {
 public:
  static constexpr description about{.name = "mandelbrot",
                                     .title = "Mandelbrot set by rows",
                                     .needs = way::loops,
                                     .unit = "rows and columns",
                                     .sizes = {24, 400, 1000},
                                     .most = 1 << 14};

  explicit mandelbrot(std::int64_t rows) : rows_(rows), steps_(rows * rows) {}

  template <class System>
  void run(System& system) {
    system.parallel_for(
        0, rows_, 1, [this](std::int64_t row) { mandelbrot_row(row, rows_, steps_.data() + row * rows_); });
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(steps_); }

 private:
  std::int64_t rows_;
  buffer<std::int32_t> steps_;
};

}  // namespace teff::programs
