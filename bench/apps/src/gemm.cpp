#include "teff/apps/gemm.hpp"

#include <algorithm>

namespace teff::apps {

gemm::gemm(const setting& at)
    : at_(at),
      blocks_(at.size, at.block),
      of_a_(values::kind::general, at.size, 1),
      of_b_(values::kind::general, at.size, 2),
      a_(blocks_, at.grid, at.rank, at.how),
      b_(blocks_, at.grid, at.rank, at.how),
      c_(blocks_, at.grid, at.rank, at.how),
      x_(random_vector(at.size)) {
  a_.visit_own([&](int row, int column) {
    of_a_.fill(a_.at(row, column), blocks_.first(row), blocks_.first(column));
    of_b_.fill(b_.at(row, column), blocks_.first(row), blocks_.first(column));
  });
  reset();
}

void gemm::reset() {
  c_.visit_own([&](int row, int column) {
    const tile each = c_.at(row, column);
    for (int i = 0; i < each.columns; ++i) std::fill_n(each.column(i), each.rows, 0.0);
  });
}

double gemm::residual(const summation& add_up) {
  if (!expected_) {
    const made_product bx = multiply_made(of_b_, b_, x_, add_up);
    made_product abx = multiply_made(of_a_, a_, bx.ax, add_up);
    expected_ = {std::move(abx.ax), abx.norm * bx.norm * norm(x_)};
  }
  vector cx(x_.size());
  c_.visit_own([&](int row, int column) {
    add_product(c_.at(row, column), part::whole, &x_[static_cast<std::size_t>(blocks_.first(column))],
                &cx[static_cast<std::size_t>(blocks_.first(row))]);
  });
  add_up(cx);
  return distance(cx, expected_->abx) / expected_->scale;
}

}  // namespace teff::apps
