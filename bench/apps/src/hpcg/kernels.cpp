#include "hpcg/kernels.hpp"

#include <algorithm>
#include <cstddef>

namespace teff::apps::hpcg {
namespace {

constexpr std::int64_t rows_ahead = 12;  // of the entries that a sweep asks memory for

/// Asks memory for the entries of a row. The rows of a tile are apart from the last tile's. Sweeps by tiles
/// took a third longer than sweeps in the order of the rows. Inline: GCC drops calls of it as without effect.
[[gnu::always_inline]] inline void fetch_row(const matrix& a, std::int64_t row) {
  constexpr std::int32_t line = 64;  // bytes
  const auto here = std::size_t(std::clamp<std::int64_t>(row, 0, a.rows() - 1));
  const std::int32_t end = a.first[here + 1];
  for (std::int32_t entry = a.first[here]; entry < end; entry += line / std::int32_t{sizeof(double)})
    __builtin_prefetch(&a.values[std::size_t(entry)]);
  for (std::int32_t entry = a.first[here]; entry < end; entry += line / std::int32_t{sizeof(std::int32_t)})
    __builtin_prefetch(&a.columns[std::size_t(entry)]);
}

/// Solves the equation of a row for the row's own unknown.
void smooth_row(level& at, std::int64_t row) {
  const matrix& a = at.a;
  const double* const x = at.x.data();
  const auto here = std::size_t(row);
  double sum = at.r[here];
  for (std::int32_t entry = a.first[here]; entry < a.first[here + 1]; ++entry)
    sum -= a.values[std::size_t(entry)] * x[a.columns[std::size_t(entry)]];
  const double diagonal = a.values[std::size_t(a.diagonal[here])];
  sum += x[row] * diagonal;  // the loop is shorter if it takes the diagonal for any other entry
  at.x[here] = sum / diagonal;
}

}  // namespace

void pack(level& at, const double* from, std::int64_t begin, std::int64_t end) {
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) at.sent[i] = from[at.around.sent[i]];
}

void clear(level& at, std::int64_t begin, std::int64_t end) {
  std::fill(at.x.begin() + begin, at.x.begin() + end, 0.0);
}

void smooth_forwards(level& at, std::int64_t begin, std::int64_t end) {
  const visiting& by = at.order;
  for (std::int64_t i = begin; i < end; ++i) {
    const visiting::tile& each = by.tiles[std::size_t(i)];
    for (int z = by.first_plane(each); z < by.end_plane(each); ++z) {
      const range rows = by.rows(each.column, each.column + 1, z);
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        fetch_row(at.a, row + rows_ahead);
        smooth_row(at, row);
      }
    }
  }
}

void smooth_backwards(level& at, std::int64_t begin, std::int64_t end) {
  const visiting& by = at.order;
  for (std::int64_t i = end; i-- > begin;) {
    const visiting::tile& each = by.tiles[std::size_t(i)];
    for (int z = by.end_plane(each); z-- > by.first_plane(each);) {
      const range rows = by.rows(each.column, each.column + 1, z);
      for (std::int64_t row = rows.end; row-- > rows.begin;) {
        fetch_row(at.a, row - rows_ahead);
        smooth_row(at, row);
      }
    }
  }
}

void restrict_residual(const level& fine, level& coarse, std::int64_t begin, std::int64_t end) {
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
    const std::int32_t row = coarse.finer[i];
    coarse.r[i] = fine.r[std::size_t(row)] - fine.a.product(row, fine.x.data());
  }
}

void correct(const level& coarse, level& fine, std::int64_t begin, std::int64_t end) {
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i)
    fine.x[std::size_t(coarse.finer[i])] += coarse.x[i];
}

void start(problem& of, std::int64_t begin, std::int64_t end) {
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
    of.x[i] = 0;
    of.finest().r[i] = of.b[i];
    of.terms[i] = of.b[i] * of.b[i];
  }
}

void copy_residual(problem& of, std::int64_t begin, std::int64_t end) {
  level& top = of.finest();
  std::copy(top.r.begin() + begin, top.r.begin() + end, top.x.begin() + begin);
}

void residual_product(problem& of, std::int64_t begin, std::int64_t end) {
  const level& top = of.finest();
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) of.terms[i] = top.r[i] * top.x[i];
}

void turn(problem& of, std::int64_t begin, std::int64_t end) {
  const std::vector<double>& z = of.finest().x;
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) of.p[i] = z[i] + of.beta * of.p[i];
}

void apply(problem& of, std::int64_t begin, std::int64_t end) {
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
    of.ap[i] = of.finest().a.product(static_cast<std::int32_t>(i), of.p.data());
    of.terms[i] = of.p[i] * of.ap[i];
  }
}

void step(problem& of, std::int64_t begin, std::int64_t end) {
  std::vector<double>& r = of.finest().r;
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i) {
    of.x[i] += of.alpha * of.p[i];
    r[i] -= of.alpha * of.ap[i];
    of.terms[i] = r[i] * r[i];
  }
}

}  // namespace teff::apps::hpcg
