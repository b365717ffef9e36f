#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/cells.hpp"

namespace teff::programs {

/// A square of cells, each of which needs the cell above and the cell to the left.
class wavefront {
 public:
  static constexpr description about{.name = "wavefront",
                                     .title = "wavefront over a square of cells",
                                     .needs = way::graphs,
                                     .unit = "rows",
                                     .sizes = {20, 500, 1000},
                                     .most = 1 << 14};

  explicit wavefront(std::int64_t rows) : rows_(rows), cells_(rows * rows) {}

  void reset() {
    for (std::uint64_t& cell : cells_) cell = 0;
  }
  template <class System>
  void run(System& system) {
    system.run_graph(*this);
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(cells_); }

  [[nodiscard]] std::int64_t tasks() const { return rows_ * rows_; }
  [[nodiscard]] int indegree(std::int64_t task) const {
    return (task >= rows_ ? 1 : 0) + (task % rows_ > 0 ? 1 : 0);
  }
  void predecessors(std::int64_t task, auto&& visit) const {
    if (task >= rows_) visit(task - rows_);
    if (task % rows_ > 0) visit(task - 1);
  }
  void successors(std::int64_t task, auto&& visit) const {
    if (task + rows_ < tasks()) visit(task + rows_);
    if (task % rows_ + 1 < rows_) visit(task + 1);
  }
  void execute(std::int64_t task) const {
    const std::uint64_t above = task >= rows_ ? cells_[task - rows_] : 1;
    const std::uint64_t before = task % rows_ > 0 ? cells_[task - 1] : 2;
    cells_[task] = next_cell(above, before);
  }

 private:
  std::int64_t rows_;
  buffer<std::uint64_t> cells_;
};

}  // namespace teff::programs
