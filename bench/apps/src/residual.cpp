#include "teff/apps/residual.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace teff::apps {

vector random_vector(int size) {
  const values all(values::kind::general, size, 3);
  vector made(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) made[static_cast<std::size_t>(i)] = 1 + all.at(i, 0);
  return made;
}

void add_product(const tile& t, part which, const double* from, double* to) {
  for (int column = 0; column < t.columns; ++column) {
    const double* const values = t.column(column);
    for (int row = which == part::lower ? column : 0; row < t.rows; ++row)
      to[row] += values[row] * from[column];
  }
}

void add_transposed_product(const tile& t, part which, const double* from, double* to) {
  for (int column = 0; column < t.columns; ++column) {
    const double* const values = t.column(column);
    double sum = 0;
    for (int row = which == part::lower ? column : 0; row < t.rows; ++row) sum += values[row] * from[row];
    to[column] += sum;
  }
}

double norm(std::span<const double> x) {
  double squares = 0;
  for (const double each : x) squares += each * each;
  return std::sqrt(squares);
}

double distance(std::span<const double> x, std::span<const double> y) {
  vector difference(x.begin(), x.end());
  for (std::size_t i = 0; i < y.size(); ++i) difference[i] -= y[i];
  return norm(difference);
}

made_product multiply_made(const values& a, const tiled_matrix& like, const vector& x,
                           const summation& add_up) {
  const tiling& blocks = like.blocks();
  const auto size = static_cast<std::size_t>(blocks.size());
  vector sums(size + 1);  // the last is the sum of the squares
  vector memory(static_cast<std::size_t>(blocks.largest()) * static_cast<std::size_t>(blocks.largest()));
  like.visit_own([&](int row, int column) {
    const tile made{memory.data(), blocks.extent(row), blocks.extent(column), blocks.extent(row)};
    a.fill(made, blocks.first(row), blocks.first(column));
    add_product(made, part::whole, &x[static_cast<std::size_t>(blocks.first(column))],
                &sums[static_cast<std::size_t>(blocks.first(row))]);
    for (const double each : made.elements()) sums[size] += each * each;
  });
  add_up(sums);
  const double squares = sums[size];
  sums.pop_back();
  return {std::move(sums), std::sqrt(squares)};
}

double residual_bound(int size) {
  constexpr double some = 16;  // as the Linpack benchmark has it
  return some * std::numeric_limits<double>::epsilon() * size;
}

}  // namespace teff::apps
