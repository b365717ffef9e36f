#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace teff::apps::hpccg {
namespace {

constexpr double diagonal = 27;
constexpr double off_diagonal = -1;

/// The neighbours of an index in one direction, itself included: of `size` indices.
struct neighbours {
  int first;
  int last;
};
neighbours neighbours_of(int index, int size) {
  return {std::max(index - 1, 0), std::min(index + 1, size - 1)};
}

/// The grid has so many further planes beside it.
std::int64_t count_elements(const box& grid, int planes) {
  return (3 * std::int64_t{grid[0]} - 2) * (3 * std::int64_t{grid[1]} - 2) *
         (3 * std::int64_t{grid[2]} - 2 + planes);
}

}  // namespace

matrix::matrix(const box& grid, bool has_below, bool has_above)
    : rows(volume(grid)),
      plane(std::int64_t{grid[0]} * grid[1]),
      below(has_below ? plane : 0),
      above(has_above ? plane : 0),
      reach(std::int64_t{grid[0]} * grid[1] + grid[0] + 1),
      first(rows + 1),
      columns(count_elements(grid, has_below + has_above)),
      values(count_elements(grid, has_below + has_above)) {
  std::int64_t row = 0;
  std::int64_t next = 0;
  for (int z = 0; z < grid[2]; ++z)
    for (int y = 0; y < grid[1]; ++y)
      for (int x = 0; x < grid[0]; ++x, ++row) {
        const neighbours in_x = neighbours_of(x, grid[0]);
        const neighbours in_y = neighbours_of(y, grid[1]);
        const neighbours in_z{has_below ? z - 1 : std::max(z - 1, 0),
                              has_above ? z + 1 : std::min(z + 1, grid[2] - 1)};
        for (int k = in_z.first; k <= in_z.last; ++k)
          for (int j = in_y.first; j <= in_y.last; ++j)
            for (int i = in_x.first; i <= in_x.last; ++i, ++next) {
              const std::int64_t column = (std::int64_t{k} * grid[1] + j) * grid[0] + i;
              columns[next] = static_cast<std::int32_t>(below + column);
              values[next] = column == row ? diagonal : off_diagonal;
            }
        first[row + 1] = next;
      }
}

void fill_right_side(const matrix& a, double* b, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin; row < end; ++row)
    b[row] = diagonal + off_diagonal * static_cast<double>(a.first[row + 1] - a.first[row] - 1);
}

void multiply(const matrix& a, const double* from, double* to, std::int64_t begin, std::int64_t end) {
  const std::int64_t* const first = a.first.data();
  const std::int32_t* const columns = a.columns.data();
  const double* const values = a.values.data();
  for (std::int64_t row = begin; row < end; ++row) {
    double sum = 0;
    for (std::int64_t i = first[row]; i < first[row + 1]; ++i) sum += values[i] * from[columns[i]];
    to[row] = sum;
  }
}

void add_multiple(const double* x, double beta, const double* y, double* w, std::int64_t begin,
                  std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) w[i] = x[i] + beta * y[i];
}

double dot(const double* x, const double* y, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t lanes = 8;  // sums side by side, in vector registers
  std::array<double, lanes> sums{};
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      sums[static_cast<std::size_t>(lane)] += x[i + lane] * y[i + lane];
  double all = 0;
  for (; i < end; ++i) all += x[i] * y[i];
  for (const double each : sums) all += each;
  return all;
}

}  // namespace teff::apps::hpccg
