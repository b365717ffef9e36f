#include "teff/apps/cholesky.hpp"

#include <algorithm>

#include "tile_app.hpp"

namespace teff::apps {

cholesky::cholesky(const setting& at)
    : at_(at),
      blocks_(at.size, at.block, at.sizes),
      values_(values::kind::positive_definite, at.size, 4),
      a_(blocks_, at.grid, at.rank, at.how),
      x_(random_vector(at.size)) {
  reset();
}

void cholesky::execute(const task& which) const {
  const auto& [step, row, column] = which;
  const tile own = a_.at(row, column);
  if (row == step)
    kernels::factorise(own);
  else if (column == step)
    kernels::solve(a_.at(step, step), own);
  else if (row == column)
    kernels::subtract_square(a_.at(row, step), own);
  else
    kernels::subtract_product(a_.at(row, step), a_.at(column, step), own);
}

std::vector<int> cholesky::readers_elsewhere(int row, int column) const {
  std::vector<int> ranks;
  readers(row, column, [&](const task& reader) {
    const int rank = owner(reader);
    if (rank != at_.rank && std::ranges::find(ranks, rank) == ranks.end()) ranks.push_back(rank);
  });
  return ranks;
}

std::int64_t cholesky::own_tasks() const {
  std::int64_t all = 0;
  a_.visit_own([&](int row, int column) { all += row >= column ? column + 1 : 0; });
  return all;
}

void cholesky::reset() {
  a_.visit_own([&](int row, int column) {
    if (row >= column) values_.fill(a_.at(row, column), blocks_.first(row), blocks_.first(column));
  });
}

double cholesky::residual(const summation& add_up) {
  if (!expected_) {
    made_product product = multiply_made(values_, a_, x_, add_up);
    expected_ = {std::move(product.ax), product.norm * norm(x_)};
  }
  const auto visit_lower = [&](auto visit) {
    a_.visit_own([&](int row, int column) {
      if (row >= column)
        visit(a_.at(row, column), row == column ? part::lower : part::whole,
              static_cast<std::size_t>(blocks_.first(row)), static_cast<std::size_t>(blocks_.first(column)));
    });
  };
  vector ltx(x_.size());
  visit_lower([&](const tile& l, part which, std::size_t row, std::size_t column) {
    add_transposed_product(l, which, &x_[row], &ltx[column]);
  });
  add_up(ltx);
  vector lltx(x_.size());
  visit_lower([&](const tile& l, part which, std::size_t row, std::size_t column) {
    add_product(l, which, &ltx[column], &lltx[row]);
  });
  add_up(lltx);
  return distance(lltx, expected_->ax) / expected_->scale;
}

description describe_cholesky() {
  return {.name = "cholesky",
          .title = "A = L L^T, on tiles",
          .unit = "FLOP",
          .ways = {way_kind::graph, way_kind::tasks},
          .cases = {{"cholesky-64", "A = L L^T, 4096 rows, tiles of 64", "-size 4096 -block 64"},
                    {"cholesky-128", "A = L L^T, 4096 rows, tiles of 128", "-size 4096 -block 128", false},
                    {"cholesky-256", "A = L L^T, 4096 rows, tiles of 256", "-size 4096 -block 256"},
                    {"cholesky-random", "A = L L^T, 4096 rows, tiles of 64 to 192 rows and columns",
                     "-size 4096 -block 128 -blocks random", false},
                    {"cholesky-16", "A = L L^T, 100 rows, tiles of 16", "-size 100 -block 16", false, {1, 4}},
                    {"cholesky-60", "A = L L^T, one tile of 60 rows", "-size 60 -block 60", false, {1, 4}}},
          .residual = "||L (L^T x) - A x|| / (||A|| ||x||), of a random vector x",
          .over_ranks = false,
          .on_tiles = true,
          .flags = &read_flags_of<cholesky>};
}

}  // namespace teff::apps
