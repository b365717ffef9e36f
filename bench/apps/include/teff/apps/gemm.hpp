#pragma once

#include <cstdint>
#include <optional>

#include "teff/apps/kernels.hpp"
#include "teff/apps/residual.hpp"
#include "teff/apps/setting.hpp"
#include "teff/apps/tiled_matrix.hpp"
#include "teff/apps/values.hpp"

namespace teff::apps {

/// C = A B, tile by tile. A task adds one product to one tile of C. It needs the task of the step before on
/// the same tile, and its two inputs, which may be other ranks'.
class gemm {
 public:
  struct task {
    int step = 0;
    int row = 0;
    int column = 0;
    friend bool operator==(const task&, const task&) = default;
  };

  explicit gemm(const setting& at);

  [[nodiscard]] const setting& at() const { return at_; }
  /// Of rows, of columns, and of steps.
  [[nodiscard]] int tiles() const { return blocks_.count(); }
  [[nodiscard]] const tiled_matrix& a() const { return a_; }
  [[nodiscard]] const tiled_matrix& b() const { return b_; }
  [[nodiscard]] const tiled_matrix& c() const { return c_; }

  void execute(const task& which) const {
    kernels::multiply(a_.at(which.row, which.step), b_.at(which.step, which.column),
                      c_.at(which.row, which.column), which.step > 0);
  }

  /// Of all ranks.
  [[nodiscard]] std::int64_t tasks() const { return std::int64_t{tiles()} * tiles() * tiles(); }
  [[nodiscard]] double flops() const { return 2.0 * at_.size * at_.size * at_.size; }

  /// Forgets the result of the run before.
  void reset();
  /// || C x - A (B x) || / (|| A || || B || || x ||), the same on all ranks.
  [[nodiscard]] double residual(const summation& add_up);

 private:
  struct expectation {
    vector abx;
    double scale;
  };

  setting at_;
  tiling blocks_;
  values of_a_;
  values of_b_;
  tiled_matrix a_;
  tiled_matrix b_;
  tiled_matrix c_;
  vector x_;
  std::optional<expectation> expected_;
};

}  // namespace teff::apps
