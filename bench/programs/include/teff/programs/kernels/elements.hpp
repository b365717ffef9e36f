#pragma once

#include <cstdint>

namespace teff::programs {

/// After how many steps each point of a row of the square is known to be outside the Mandelbrot set.
void mandelbrot_row(std::int64_t row, std::int64_t rows, std::int32_t* steps);

struct stock_option {
  double price;
  double strike;
  double rate;
  double volatility;
  double years;
};

/// The value of a European call, by Black and Scholes.
[[nodiscard]] double call_value(const stock_option& option);

struct body {
  double x;
  double y;
  double z;
  double mass;
};

struct acceleration {
  double x;
  double y;
  double z;
};

/// The acceleration of one body by all bodies.
[[nodiscard]] acceleration pull_on(const body& one, const body* all, std::int64_t count);
/// Moves it for a short time.
void move_body(const acceleration& pull, acceleration& velocity, body& one);

/// How often each key occurs.
void count_keys(const std::uint16_t* keys, std::int64_t count, std::int64_t* counts, std::int64_t bins);

/// The score of the best local alignment of two sequences (Smith and Waterman), which have at most
/// `most_letters` each.
inline constexpr std::int64_t most_letters = 256;
[[nodiscard]] std::int32_t alignment_score(const std::uint8_t* a, std::int64_t length_a,
                                           const std::uint8_t* b, std::int64_t length_b);

}  // namespace teff::programs
