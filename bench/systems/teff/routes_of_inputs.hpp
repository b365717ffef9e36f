#pragma once

#include <algorithm>

#include "teff/apps/gemm.hpp"
#include "tiles_over_ranks.hpp"

/// Where tiles of A and B go. In the layer that multiplies a tile, the rank behind its own gets it, and sends
/// it on: one of A along its row of ranks, one of B along its column. (So it goes in the algorithm of Dekel,
/// Nassimi and Sahni. With one layer, its own rank sends it along.)
class routes_of_inputs {
 public:
  using task = teff::apps::gemm::task;
  enum matrix : int { a, b };

  explicit routes_of_inputs(const teff::apps::gemm& product)
      : product_(product), grid_(product.at().grid), rank_(product.at().rank) {}

  /// How many of its inputs a task of this rank waits for.
  [[nodiscard]] int awaited_by(const task& which) const {
    if (!product_.is_product(which)) return 0;
    return !product_.a().is_here(which.row, which.step) + !product_.b().is_here(which.step, which.column);
  }

  /// Calls visit(task) for each task of this rank that reads the tile.
  template <class Visit>
  void visit_readers(int matrix, int row, int column, Visit&& visit) const {
    for (int i = 0; i < product_.tiles(); ++i)
      if (const task reader = reader_of(matrix, row, column, i); product_.is_here(reader)) visit(reader);
  }

  /// Those that are multiplied first go first.
  void send_own(tile_messages& messages) const {
    for (int step = 0; step < product_.tiles(); ++step)
      for (int i = 0; i < product_.tiles(); ++i) {
        if (product_.a().is_here(i, step)) send(messages, a, i, step);
        if (product_.b().is_here(step, i)) send(messages, b, step, i);
      }
  }

  /// To be called where a tile has come.
  void pass_on(tile_messages& messages, int matrix, int row, int column) const {
    if (rank_behind(matrix, row, column) != rank_) return;
    const int ranks = std::min(matrix == a ? grid_.across : grid_.down, product_.tiles());
    for (int i = 0; i < ranks; ++i)
      if (const int to = product_.owner(reader_of(matrix, row, column, i)); to != rank_)
        messages.send(to, matrix, row, column);
  }

 private:
  void send(tile_messages& messages, int matrix, int row, int column) const {
    if (const int behind = rank_behind(matrix, row, column); behind != rank_)
      messages.send(behind, matrix, row, column);
    else
      pass_on(messages, matrix, row, column);
  }

  [[nodiscard]] static task reader_of(int matrix, int row, int column, int i) {
    return matrix == a ? task{column, row, i} : task{row, i, column};
  }
  [[nodiscard]] int rank_behind(int matrix, int row, int column) const {
    return grid_.owner(row, column, product_.layer(reader_of(matrix, row, column, 0)));
  }

  const teff::apps::gemm& product_;
  teff::apps::process_grid grid_;
  int rank_;
};
