#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/cells.hpp"
#include "teff/programs/ways.hpp"

namespace teff::programs {

/// A graph in which each task needs up to four tasks that were drawn at random among those before it.
class random_dag {
 public:
  static constexpr description about{.name = "random_dag",
                                     .title = "random graph, up to four predecessors",
                                     .needs = way::graphs,
                                     .unit = "tasks",
                                     .sizes = {300, 100'000, 300'000},
                                     .most = 100'000'000};

  explicit random_dag(std::int64_t tasks) : cells_(tasks) {
    std::vector<std::array<std::int32_t, 2>> edges;  // successor by predecessor
    for (std::int64_t task = 0; task < tasks; ++task) {
      before_.begins.push_back(static_cast<std::int32_t>(before_.ends.size()));
      for (const std::int32_t each : drawn(task)) {
        before_.ends.push_back(each);
        edges.push_back({each, static_cast<std::int32_t>(task)});
      }
    }
    before_.begins.push_back(static_cast<std::int32_t>(before_.ends.size()));
    std::ranges::sort(edges);
    after_.begins.resize(static_cast<std::size_t>(tasks) + 1);
    for (const auto& [from, to] : edges) {
      ++after_.begins[static_cast<std::size_t>(from) + 1];
      after_.ends.push_back(to);
    }
    for (std::size_t i = 1; i < after_.begins.size(); ++i) after_.begins[i] += after_.begins[i - 1];
  }

  void reset() {
    for (std::uint64_t& cell : cells_) cell = 0;
  }
  template <class System>
  void run(System& system) {
    system.run_graph(*this);
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(cells_); }

  [[nodiscard]] std::int64_t tasks() const { return cells_.size(); }
  [[nodiscard]] int indegree(std::int64_t task) const { return static_cast<int>(before_.of(task).size()); }
  void predecessors(std::int64_t task, auto&& visit) const {
    for (const std::int32_t each : before_.of(task)) visit(std::int64_t{each});
  }
  void successors(std::int64_t task, auto&& visit) const {
    for (const std::int32_t each : after_.of(task)) visit(std::int64_t{each});
  }
  void execute(std::int64_t task) const {
    std::uint64_t seen = static_cast<std::uint64_t>(task);
    for (const std::int32_t each : before_.of(task)) seen = next_cell(seen, cells_[each]);
    cells_[task] = seen + 1;
  }

 private:
  /// For each task a row of others.
  struct rows {
    std::vector<std::int32_t> begins;
    std::vector<std::int32_t> ends;

    [[nodiscard]] std::span<const std::int32_t> of(std::int64_t task) const {
      const auto at = static_cast<std::size_t>(task);
      return {ends.data() + begins[at], ends.data() + begins[at + 1]};
    }
  };
  static constexpr std::int64_t window = 10'000;  ///< predecessors are at most so many tasks before

  [[nodiscard]] static std::vector<std::int32_t> drawn(std::int64_t task) {
    std::vector<std::int32_t> found;
    const std::int64_t known = std::min(task, window);
    const auto seed = static_cast<std::uint64_t>(task) * (most_predecessors + 1);
    const std::uint64_t count = known == 0 ? 0 : mixed(seed) % (most_predecessors + 1);
    for (std::uint64_t i = 1; i <= count; ++i) {
      const auto back = static_cast<std::int64_t>(mixed(seed + i) % static_cast<std::uint64_t>(known)) + 1;
      found.push_back(static_cast<std::int32_t>(task - back));
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  buffer<std::uint64_t> cells_;
  rows before_;
  rows after_;
};

}  // namespace teff::programs
