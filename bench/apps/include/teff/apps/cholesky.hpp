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

/// A = L L^T, tile by tile, in place: of both the lower triangle counts. A task is the part of a step for one
/// tile. Step k factorises tile (k, k) and solves the tiles below it against it. Then it subtracts the
/// products of two of these tiles from all tiles to their right. A tile is final after the step of its
/// column.
class cholesky {
 public:
  struct task {
    int step = 0;
    int row = 0;
    int column = 0;  ///< step <= column <= row
    friend bool operator==(const task&, const task&) = default;
  };

  explicit cholesky(const setting& at);

  [[nodiscard]] const setting& at() const { return at_; }
  /// Of rows, of columns, and of steps.
  [[nodiscard]] int tiles() const { return blocks_.count(); }
  /// A, and L after the run.
  [[nodiscard]] const tiled_matrix& a() const { return a_; }
  /// The matrices that tasks write.
  [[nodiscard]] std::span<const tiled_matrix> written() const { return {&a_, 1}; }

  void execute(const task& which) const;
  [[nodiscard]] static std::string_view name(const task& which) {
    return which.row == which.step ? "factorise" : which.column == which.step ? "solve" : "subtract";
  }
  /// Calls visit(task) for all tasks, in the order of one thread.
  template <class Visit>
  void visit_in_order(Visit&& visit) const {
    for (int step = 0; step < tiles(); ++step)
      for (int column = step; column < tiles(); ++column)
        for (int row = column; row < tiles(); ++row) visit(task{step, row, column});
  }
  /// Calls visit(matrix, row, column) for the tile of written() that a task changes, then for those that it
  /// reads.
  template <class Visit>
  static void visit_tiles(const task& which, Visit&& visit) {
    visit(0, which.row, which.column);
    if (which.row == which.step) return;
    if (which.column > which.step) visit(0, which.row, which.step);
    if (which.row > which.column) visit(0, which.column, which.step);
  }

  /// The final tiles that a task reads, and its own tile as the step before left it.
  [[nodiscard]] static int indegree(const task& which) {
    const int final_tiles =
        (which.row > which.step) + (which.column > which.step && which.row > which.column);
    return final_tiles + (which.step > 0);
  }
  /// Whether its tile is final when it has run; else the task next() follows on that tile.
  [[nodiscard]] static bool makes_final(const task& which) { return which.column == which.step; }
  [[nodiscard]] static task next(const task& which) { return {which.step + 1, which.row, which.column}; }
  /// Calls visit(task) for each task that reads a final tile.
  template <class Visit>
  void readers(int row, int column, Visit&& visit) const {
    const int step = column;
    if (row > column)
      for (int j = step + 1; j <= row; ++j) visit(task{step, row, j});
    const int own = row == column ? step : row;  // the column of the tasks that read it from below it
    for (int i = row + 1; i < tiles(); ++i) visit(task{step, i, own});
  }
  /// Calls visit(task) for the task that waits for no other.
  template <class Visit>
  static void visit_first(Visit&& visit) {
    visit(task{});
  }
  /// Calls visit(task) for each task that waits for this one.
  template <class Visit>
  void visit_next(const task& which, Visit&& visit) const {
    if (makes_final(which))
      readers(which.row, which.column, visit);
    else
      visit(next(which));
  }
  /// The rank that executes it, and has its tile.
  [[nodiscard]] int owner(const task& which) const { return at_.grid.owner(which.row, which.column); }
  [[nodiscard]] bool is_here(const task& which) const { return owner(which) == at_.rank; }
  /// The other ranks that read a final tile of this one.
  [[nodiscard]] std::vector<int> readers_elsewhere(int row, int column) const;
  /// Columns in their order: the longest path goes from diagonal tile to diagonal tile. By its exact length
  /// (step + row + column) it was slower with tiles of 64 rows.
  [[nodiscard]] static int priority(const task& which) { return -which.column; }
  /// The task's number, unique and below tasks().
  [[nodiscard]] std::size_t number(const task& which) const {
    const auto row = static_cast<std::int64_t>(which.row - which.step);
    const auto before = tasks() - pyramid(tiles() - which.step);
    return static_cast<std::size_t>(before + row * (row + 1) / 2 + which.column - which.step);
  }

  /// Of all ranks.
  [[nodiscard]] std::int64_t tasks() const { return pyramid(tiles()); }
  /// Of this rank.
  [[nodiscard]] std::int64_t own_tasks() const;
  [[nodiscard]] double flops() const {
    const double n = at_.size;
    return n * (n + 1) * (2 * n + 1) / 6;
  }

  /// Forgets the result of the run before.
  void reset();
  /// || L (L^T x) - A x || / (|| A || || x ||), the same on all ranks.
  [[nodiscard]] double residual(const summation& add_up);

 private:
  struct expectation {
    vector ax;
    double scale;
  };

  /// Tasks of so many tiles in a row.
  [[nodiscard]] static std::int64_t pyramid(std::int64_t n) { return n * (n + 1) * (n + 2) / 6; }

  setting at_;
  tiling blocks_;
  values values_;
  tiled_matrix a_;
  vector x_;
  std::optional<expectation> expected_;
};

}  // namespace teff::apps
