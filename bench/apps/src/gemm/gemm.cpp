#include "teff/apps/gemm.hpp"

#include <algorithm>

#include "tile_app.hpp"

namespace teff::apps {

gemm::gemm(const setting& at)
    : at_(at),
      blocks_(at.size, at.block, at.sizes),
      of_a_(values::kind::general, at.size, 1),
      of_b_(values::kind::general, at.size, 2),
      a_(blocks_, at.grid, at.rank, at.how),
      b_(blocks_, at.grid, at.rank, at.how),
      x_(random_vector(at.size)) {
  at_.layers = std::min(at.layers, tiles());
  sums_.reserve(static_cast<std::size_t>(layers()));
  for (int i = 0; i < layers(); ++i) sums_.emplace_back(blocks_, at.grid, at.rank, at.how);
  a_.visit_own([&](int row, int column) {
    of_a_.fill(a_.at(row, column), blocks_.first(row), blocks_.first(column));
    of_b_.fill(b_.at(row, column), blocks_.first(row), blocks_.first(column));
  });
  reset();
}

void gemm::execute(const task& which) const {
  const tile own = sum(layer(which)).at(which.row, which.column);
  if (is_product(which))
    kernels::multiply(a_.at(which.row, which.step), b_.at(which.step, which.column), own,
                      which.step >= layers());
  else
    kernels::add(sum(added_layer(which)).at(which.row, which.column), own);
}

std::optional<gemm::task> gemm::next(const task& which) const {
  if (is_product(which) && which.step + layers() < tiles())
    return task{which.step + layers(), which.row, which.column};
  const int mine = layer(which);
  if (mine > 0) return task{tiles() + mine - 1, which.row, which.column};
  const int after = std::max(which.step + 1, tiles());
  if (after < tiles() + layers() - 1) return task{after, which.row, which.column};
  return {};
}

std::int64_t gemm::own_tasks() const {
  std::int64_t all = 0;
  visit_first([&](const task& first) {
    for (std::optional<task> each = first; each && is_here(*each) && layer(*each) == layer(first);
         each = next(*each))
      ++all;
  });
  return all;
}

void gemm::reset() {
  for (int layer = 0; layer < layers(); ++layer)
    for (int column = 0; column < tiles(); ++column)
      for (int row = 0; row < tiles(); ++row) {
        // The rank's sums, and the sums that it receives from other layers.
        if (at_.grid.owner(row, column, layer) != at_.rank && !c().is_here(row, column)) continue;
        const tile each = sum(layer).at(row, column);
        for (int i = 0; i < each.columns; ++i) std::fill_n(each.column(i), each.rows, 0.0);
      }
}

double gemm::residual(const summation& add_up) {
  if (!expected_) {
    const made_product bx = multiply_made(of_b_, b_, x_, add_up);
    made_product abx = multiply_made(of_a_, a_, bx.ax, add_up);
    expected_ = {std::move(abx.ax), abx.norm * bx.norm * norm(x_)};
  }
  vector cx(x_.size());
  c().visit_own([&](int row, int column) {
    add_product(c().at(row, column), part::whole, &x_[static_cast<std::size_t>(blocks_.first(column))],
                &cx[static_cast<std::size_t>(blocks_.first(row))]);
  });
  add_up(cx);
  return distance(cx, expected_->abx) / expected_->scale;
}

description describe_gemm() {
  return {.name = "gemm",
          .title = "C = A B, on tiles",
          .unit = "FLOP",
          .ways = {way_kind::graph, way_kind::tasks},
          .cases = {{"gemm-64", "C = A B, 2048 rows, tiles of 64", "-size 2048 -block 64"},
                    {"gemm-128", "C = A B, 2048 rows, tiles of 128", "-size 2048 -block 128", false},
                    {"gemm-256", "C = A B, 2048 rows, tiles of 256", "-size 2048 -block 256"},
                    {"gemm-random", "C = A B, 2048 rows, tiles of 64 to 192 rows and columns",
                     "-size 2048 -block 128 -blocks random", false},
                    {"gemm-16", "C = A B, 100 rows, tiles of 16", "-size 100 -block 16", false, {1, 4}}},
          .residual = "||C x - A (B x)|| / (||A|| ||B|| ||x||), of a random vector x",
          .over_ranks = false,
          .on_tiles = true,
          .flags = &read_flags_of<gemm>};
}

}  // namespace teff::apps
