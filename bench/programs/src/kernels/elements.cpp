#include "teff/programs/kernels/elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace teff::programs {
namespace {

constexpr std::int32_t most_steps = 256;

/// The normal distribution.
double share_below(double deviations) {
  return 0.5 * std::erfc(-deviations / std::numbers::sqrt2);
}

}  // namespace

[[gnu::noinline, gnu::aligned(64)]] void mandelbrot_row(std::int64_t row, std::int64_t rows,
                                                        std::int32_t* steps) {
  const double side = 3.0 / static_cast<double>(rows);
  const double ci = static_cast<double>(row) * side - 1.5;
  for (std::int64_t column = 0; column < rows; ++column) {
    const double cr = static_cast<double>(column) * side - 2.0;
    double re = 0;
    double im = 0;
    std::int32_t step = 0;
    for (; step < most_steps && re * re + im * im < 4; ++step) {
      const double next = re * re - im * im + cr;
      im = 2 * re * im + ci;
      re = next;
    }
    steps[column] = step;
  }
}

[[gnu::noinline, gnu::aligned(64)]] double call_value(const stock_option& option) {
  const double spread = option.volatility * std::sqrt(option.years);
  const double growth = option.rate + option.volatility * option.volatility / 2;
  const double d1 = (std::log(option.price / option.strike) + growth * option.years) / spread;
  const double discount = std::exp(-option.rate * option.years);
  return option.price * share_below(d1) - option.strike * discount * share_below(d1 - spread);
}

[[gnu::noinline, gnu::aligned(64)]] acceleration pull_on(const body& one, const body* all,
                                                         std::int64_t count) {
  constexpr double softening = 1e-3;  // keeps a body's pull on itself finite: it is zero
  acceleration sum{};
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = all[i].x - one.x;
    const double y = all[i].y - one.y;
    const double z = all[i].z - one.z;
    const double square = x * x + y * y + z * z + softening;
    const double pull = all[i].mass / (square * std::sqrt(square));
    sum.x += pull * x;
    sum.y += pull * y;
    sum.z += pull * z;
  }
  return sum;
}

[[gnu::noinline, gnu::aligned(64)]] void move_body(const acceleration& pull, acceleration& velocity,
                                                   body& one) {
  constexpr double time = 1e-3;
  velocity.x += time * pull.x;
  velocity.y += time * pull.y;
  velocity.z += time * pull.z;
  one.x += time * velocity.x;
  one.y += time * velocity.y;
  one.z += time * velocity.z;
}

[[gnu::noinline, gnu::aligned(64)]] void count_keys(const std::uint16_t* keys, std::int64_t count,
                                                    std::int64_t* counts, std::int64_t bins) {
  std::fill_n(counts, bins, 0);
  for (std::int64_t i = 0; i < count; ++i) ++counts[keys[i]];
}

[[gnu::noinline, gnu::aligned(64)]] std::int32_t alignment_score(const std::uint8_t* a, std::int64_t length_a,
                                                                 const std::uint8_t* b,
                                                                 std::int64_t length_b) {
  constexpr std::int32_t match = 2;
  constexpr std::int32_t mismatch = -1;
  constexpr std::int32_t gap = -1;
  std::array<std::int32_t, most_letters + 1> row{};
  std::int32_t best = 0;
  for (std::int64_t i = 0; i < length_a; ++i) {
    std::int32_t diagonal = 0;
    for (std::int64_t j = 1; j <= length_b; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const std::int32_t above = row[at];
      const std::int32_t met = diagonal + (a[i] == b[j - 1] ? match : mismatch);
      row[at] = std::max({0, met, above + gap, row[at - 1] + gap});
      best = std::max(best, row[at]);
      diagonal = above;
    }
  }
  return best;
}

}  // namespace teff::programs
