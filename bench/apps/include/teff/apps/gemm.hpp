#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "teff/apps/kernels.hpp"
#include "teff/apps/residual.hpp"
#include "teff/apps/setting.hpp"
#include "teff/apps/tiled_matrix.hpp"
#include "teff/apps/values.hpp"

namespace teff::apps {

/// C = A B, tile by tile. A task adds one product to a sum for one tile of C. It needs the task before it on
/// the same sum, and its two inputs, which may be other ranks'.
///
/// There are as many sums for a tile as layers. A layer makes every layers()-th product. The steps after the
/// products add the sums of the other layers to the sum of the first layer, which is the tile of C. Over
/// ranks, each layer has a grid of ranks; all three matrices belong to the ranks of the first layer.
class gemm {
 public:
  struct task {
    int step = 0;  ///< below tiles(): a product; then one for each layer but the first
    int row = 0;
    int column = 0;
    friend bool operator==(const task&, const task&) = default;
  };

  explicit gemm(const setting& at);

  [[nodiscard]] const setting& at() const { return at_; }
  /// Of rows, of columns, and of products.
  [[nodiscard]] int tiles() const { return blocks_.count(); }
  [[nodiscard]] int layers() const { return at_.layers; }
  [[nodiscard]] const tiled_matrix& a() const { return a_; }
  [[nodiscard]] const tiled_matrix& b() const { return b_; }
  [[nodiscard]] const tiled_matrix& c() const { return sums_.front(); }
  [[nodiscard]] const tiled_matrix& sum(int layer) const { return sums_[static_cast<std::size_t>(layer)]; }
  /// The matrices that tasks write.
  [[nodiscard]] std::span<const tiled_matrix> written() const { return sums_; }

  void execute(const task& which) const;
  [[nodiscard]] std::string_view name(const task& which) const {
    return is_product(which) ? "multiply" : "add";
  }
  /// Calls visit(task) for all tasks, in the order of one thread.
  template <class Visit>
  void visit_in_order(Visit&& visit) const {
    for (int column = 0; column < tiles(); ++column)
      for (int row = 0; row < tiles(); ++row)
        for (int step = 0; step < tiles() + layers() - 1; ++step) visit(task{step, row, column});
  }
  /// Calls visit(matrix, row, column) for the tile of written() that a task changes, then for the one that it
  /// reads.
  template <class Visit>
  void visit_tiles(const task& which, Visit&& visit) const {
    visit(layer(which), which.row, which.column);
    if (!is_product(which)) visit(added_layer(which), which.row, which.column);
  }

  /// The layer whose sum a task changes.
  [[nodiscard]] int layer(const task& which) const { return is_product(which) ? which.step % layers() : 0; }
  /// The layer whose sum a task adds to another, where it is no product.
  [[nodiscard]] int added_layer(const task& which) const { return which.step - tiles() + 1; }
  [[nodiscard]] bool is_product(const task& which) const { return which.step < tiles(); }
  /// The rank that executes it, and has its sum.
  [[nodiscard]] int owner(const task& which) const {
    return at_.grid.owner(which.row, which.column, layer(which));
  }
  /// Of the sums that it needs, its own included; the first product on a sum needs a call to start it.
  [[nodiscard]] int indegree(const task& which) const { return is_product(which) ? 1 : 2; }
  /// The task that needs the sum of this task; empty if that sum is the tile of C.
  [[nodiscard]] std::optional<task> next(const task& which) const;
  /// Calls visit(task) for each task that waits for this one.
  template <class Visit>
  void visit_next(const task& which, Visit&& visit) const {
    if (const auto after = next(which)) visit(*after);
  }
  /// Calls visit(task) for the first product on each sum of this rank.
  template <class Visit>
  void visit_first(Visit&& visit) const {
    for (int column = 0; column < tiles(); ++column)
      for (int row = 0; row < tiles(); ++row)
        for (int each = 0; each < layers(); ++each)
          if (const task first{each, row, column}; is_here(first)) visit(first);
  }
  [[nodiscard]] bool is_here(const task& which) const { return owner(which) == at_.rank; }

  /// The task's number, unique and below tasks().
  [[nodiscard]] std::size_t number(const task& which) const {
    return (static_cast<std::size_t>(which.step) * static_cast<std::size_t>(tiles()) +
            static_cast<std::size_t>(which.row)) *
               static_cast<std::size_t>(tiles()) +
           static_cast<std::size_t>(which.column);
  }

  /// Of all ranks.
  [[nodiscard]] std::int64_t tasks() const {
    return std::int64_t{tiles()} * tiles() * (tiles() + layers() - 1);
  }
  /// Of this rank.
  [[nodiscard]] std::int64_t own_tasks() const;
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
  std::vector<tiled_matrix> sums_;
  vector x_;
  std::optional<expectation> expected_;
};

}  // namespace teff::apps
