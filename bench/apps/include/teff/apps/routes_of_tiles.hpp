#pragma once

#include <algorithm>
#include <vector>

#include "teff/apps/gemm.hpp"

namespace teff::apps {

/// Where the tiles of a product go, of one rank. In the layer that multiplies a tile of A or B, the rank
/// behind the tile's owner gets it. That rank sends a tile of A along its row of ranks, and a tile of B along
/// its column. (So it goes in the algorithm of Dekel, Nassimi and Sahni. With one layer, its own rank sends
/// it along.) A layer's sum goes to the first layer. To send is `send(rank, matrix, row, column)`.
class routes_of_tiles {
 public:
  using task = gemm::task;
  /// The matrices whose tiles are sent: A, B, and from `sums` on the sums of the layers but the first.
  enum matrix : int { a, b, sums };

  explicit routes_of_tiles(const gemm& product)
      : product_(product), grid_(product.at().grid), rank_(product.at().rank) {}

  /// All of them, by number.
  [[nodiscard]] std::vector<const tiled_matrix*> matrices() const {
    std::vector<const tiled_matrix*> all{&product_.a(), &product_.b()};
    for (int layer = 1; layer < product_.layers(); ++layer) all.push_back(&product_.sum(layer));
    return all;
  }

  /// How many of its inputs a task of this rank waits for.
  [[nodiscard]] int awaited_by(const task& which) const {
    if (!product_.is_product(which)) return 0;
    return !product_.a().is_here(which.row, which.step) + !product_.b().is_here(which.step, which.column);
  }

  /// Calls visit(task) for each task of this rank that reads the tile.
  template <class Visit>
  void visit_readers(int matrix, int row, int column, Visit&& visit) const {
    if (matrix >= sums) {
      visit(task{product_.tiles() + matrix - sums, row, column});
      return;
    }
    for (int i = 0; i < product_.tiles(); ++i)
      if (const task reader = reader_of(matrix, row, column, i); product_.is_here(reader)) visit(reader);
  }

  /// Sends the tiles in the order in which they are multiplied.
  template <class Send>
  void send_own(const Send& send) const {
    for (int step = 0; step < product_.tiles(); ++step)
      for (int i = 0; i < product_.tiles(); ++i) {
        if (product_.a().is_here(i, step)) send_on_its_way(send, a, i, step);
        if (product_.b().is_here(step, i)) send_on_its_way(send, b, step, i);
      }
  }

  /// To be called where a tile has come.
  template <class Send>
  void pass_on(const Send& send, int matrix, int row, int column) const {
    if (matrix >= sums || rank_behind(matrix, row, column) != rank_) return;
    const int ranks = std::min(matrix == a ? grid_.across : grid_.down, product_.tiles());
    for (int i = 0; i < ranks; ++i)
      if (const int to = product_.owner(reader_of(matrix, row, column, i)); to != rank_)
        send(to, matrix, row, column);
  }
  /// Sends a sum that is complete to the rank that adds it: `next` is the task that does.
  template <class Send>
  void send_sum(const Send& send, const task& which, const task& next) const {
    send(product_.owner(next), sums + product_.layer(which) - 1, which.row, which.column);
  }

 private:
  template <class Send>
  void send_on_its_way(const Send& send, int matrix, int row, int column) const {
    if (const int behind = rank_behind(matrix, row, column); behind != rank_)
      send(behind, matrix, row, column);
    else
      pass_on(send, matrix, row, column);
  }

  [[nodiscard]] static task reader_of(int matrix, int row, int column, int i) {
    return matrix == a ? task{column, row, i} : task{row, i, column};
  }
  [[nodiscard]] int rank_behind(int matrix, int row, int column) const {
    return grid_.owner(row, column, product_.layer(reader_of(matrix, row, column, 0)));
  }

  const gemm& product_;
  process_grid grid_;
  int rank_;
};

}  // namespace teff::apps
