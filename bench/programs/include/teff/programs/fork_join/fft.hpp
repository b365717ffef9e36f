#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/fork_join/halving.hpp"
#include "teff/programs/kernels/fourier.hpp"

namespace teff::programs {

/// Fourier transform of complex numbers by halves: even and odd elements are set apart, transformed and
/// combined, each in parallel.
class fft {
 public:
  static constexpr description about{.name = "fft",
                                     .title = "fast Fourier transform",
                                     .needs = way::fork_join,
                                     .unit = "points, a power of two",
                                     .sizes = {1 << 12, 1 << 20, 1 << 22},
                                     .least = 2,
                                     .most = std::int64_t{1} << 30,
                                     .power_of_two = true};

  explicit fft(std::int64_t points) : points_(points), scratch_(points), roots_(points / 2) {
    for (std::int64_t i = 0; i < points / 2; ++i)
      roots_[i] =
          std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(points));
    reset();
  }

  void reset() {
    for (std::int64_t i = 0; i < points_.size(); ++i) points_[i] = input(i);
  }
  template <class System>
  void run(System& system) {
    system.run_tasks(
        [this] { transform<System>(points_.data(), scratch_.data(), points_.size(), 1, roots_.data()); });
  }
  [[nodiscard]] std::uint64_t checksum() const {
    fingerprint all;
    for (const complex& each : points_) {
      all.add(each.real());
      all.add(each.imag());
    }
    return all.value();
  }

  [[nodiscard]] static complex input(std::int64_t i) {
    const auto seed = static_cast<std::uint64_t>(i);
    return {mixed_share(2 * seed) - 0.5, mixed_share(2 * seed + 1) - 0.5};
  }
  [[nodiscard]] const buffer<complex>& points() const { return points_; }

 private:
  static constexpr std::int64_t leaf = 512;
  static constexpr std::int64_t block = 2048;

  template <class System>
  static void transform(complex* points, complex* scratch, std::int64_t count, std::int64_t step,
                        const complex* roots) {
    if (count <= leaf) return fft_leaf(points, scratch, count, step, roots);
    const std::int64_t half = count / 2;
    by_halves<System>(0, half, block, [&](std::int64_t first, std::int64_t last) {
      fft_unshuffle(points, scratch, half, first, last);
    });
    System::invoke([&] { transform<System>(scratch, points, half, 2 * step, roots); },
                   [&] { transform<System>(scratch + half, points + half, half, 2 * step, roots); });
    by_halves<System>(0, half, block, [&](std::int64_t first, std::int64_t last) {
      fft_combine(scratch, points, half, step, roots, first, last);
    });
  }

  buffer<complex> points_;
  buffer<complex> scratch_;
  buffer<complex> roots_;
};

}  // namespace teff::programs
