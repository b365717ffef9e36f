#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/cells.hpp"

namespace teff::programs {

/// Graphs of four tasks that do next to nothing, one after the other: each is made, run and dropped by the
/// main thread. Two tasks in the middle of each need the first, and the last needs both.
class small_graphs {
 public:
  static constexpr description about{.name = "small_graphs",
                                     .title = "graphs of 4 tasks, from main",
                                     .needs = way::graphs,
                                     .unit = "graphs",
                                     .sizes = {20, 5000, 50'000},
                                     .most = 100'000'000};

  /// One of them.
  class diamond {
   public:
    explicit diamond(std::uint64_t* cells) : cells_(cells) {}

    [[nodiscard]] static std::int64_t tasks() { return size; }
    [[nodiscard]] static int indegree(std::int64_t task) { return task == 0 ? 0 : task < last ? 1 : 2; }
    static void predecessors(std::int64_t task, auto&& visit) {
      if (task == 0) return;
      if (task < last) return visit(0);
      for (std::int64_t each = 1; each < last; ++each) visit(each);
    }
    static void successors(std::int64_t task, auto&& visit) {
      if (task == last) return;
      if (task > 0) return visit(last);
      for (std::int64_t each = 1; each < last; ++each) visit(each);
    }
    void execute(std::int64_t task) const {
      cells_[task] = task == last ? next_cell(cells_[1], cells_[2])
                                  : next_cell(cells_[0], static_cast<std::uint64_t>(task));
    }

   private:
    std::uint64_t* cells_;
  };

  explicit small_graphs(std::int64_t graphs) : graphs_(graphs), cells_(size) {}

  void reset() {
    for (std::uint64_t& cell : cells_) cell = 0;
  }
  template <class System>
  void run(System& system) {
    for (std::int64_t graph = 0; graph < graphs_; ++graph) system.run_graph(diamond(cells_.data()));
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(cells_); }

 private:
  static constexpr std::int64_t size = 4;
  static constexpr std::int64_t last = size - 1;
  std::int64_t graphs_;
  buffer<std::uint64_t> cells_;
};

}  // namespace teff::programs
