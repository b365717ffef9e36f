#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/cells.hpp"

namespace teff::programs {

/// A graph without any parallelism: each task needs the one before.
class chain {
 public:
  static constexpr description about{.name = "chain",
                                     .title = "chain of tasks",
                                     .needs = way::graphs,
                                     .unit = "tasks",
                                     .sizes = {200, 200'000, 1'000'000},
                                     .most = 1'000'000'000};

  explicit chain(std::int64_t tasks) : cells_(tasks) {}

  void reset() {
    for (std::uint64_t& cell : cells_) cell = 0;
  }
  template <class System>
  void run(System& system) {
    system.run_graph(*this);
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(cells_); }

  [[nodiscard]] std::int64_t tasks() const { return cells_.size(); }
  [[nodiscard]] static int indegree(std::int64_t task) { return task > 0 ? 1 : 0; }
  static void predecessors(std::int64_t task, auto&& visit) {
    if (task > 0) visit(task - 1);
  }
  void successors(std::int64_t task, auto&& visit) const {
    if (task + 1 < tasks()) visit(task + 1);
  }
  void execute(std::int64_t task) const { cells_[task] = next_cell(task > 0 ? cells_[task - 1] : 1, 2); }

 private:
  buffer<std::uint64_t> cells_;
};

}  // namespace teff::programs
