#pragma once

#include <algorithm>
#include <vector>

#include "teff/graphs/interval.hpp"
#include "teff/graphs/task_graph.hpp"

namespace teff::graphs {

/// The tasks of timestep t that tasks of timestep t + 1 wait for, in a system that keeps the outputs of two
/// timesteps in shared memory. An output of t is overwritten at t + 2. Task (t + 1, c) has to wait for (t, p)
/// in three cases: it reads p's output, it overwrites an output that p read, or both are of the same column.
/// Most pairs have two of these reasons or all three; each pair counts once.
class edges {
 public:
  edges(const task_graph& graph, std::int64_t set, std::int64_t next_set) {
    const auto& pattern = *graph.pattern;
    for (std::int64_t point = 0; point < graph.width; ++point) {
      forward_.add(point, [&](const auto& sink) {
        pattern.reverse_dependencies(graph, next_set, point, sink);
        pattern.dependencies(graph, set, point, sink);
      });
      backward_.add(point, [&](const auto& sink) {
        pattern.dependencies(graph, next_set, point, sink);
        pattern.reverse_dependencies(graph, set, point, sink);
      });
    }
  }

  /// The points at t + 1 that wait for `point` at t; `bounds` are the points at t + 1.
  [[nodiscard]] point_range successors(std::int64_t point, interval bounds) const {
    return forward_.row(point, bounds);
  }
  /// The points at t that `point` at t + 1 waits for; `bounds` are the points at t.
  [[nodiscard]] point_range predecessors(std::int64_t point, interval bounds) const {
    return backward_.row(point, bounds);
  }

 private:
  class rows {
   public:
    template <class Query>
    void add(std::int64_t point, Query query) {
      std::vector<interval> all{{point, point}};
      auto keep = [&](interval each) { all.push_back(each); };
      query(interval_sink(keep));
      std::ranges::sort(all, {}, &interval::first);
      for (const auto& each : all) {
        if (intervals_.size() > starts_.back() && each.first <= intervals_.back().last + 1) {
          intervals_.back().last = std::max(intervals_.back().last, each.last);
        } else {
          intervals_.push_back(each);
        }
      }
      starts_.push_back(intervals_.size());
    }
    [[nodiscard]] point_range row(std::int64_t point, interval bounds) const {
      const auto at = static_cast<std::size_t>(point);
      return {{intervals_.data() + starts_[at], starts_[at + 1] - starts_[at]}, bounds};
    }

   private:
    std::vector<interval> intervals_;
    std::vector<std::size_t> starts_{0};
  };

  rows forward_;
  rows backward_;
};

}  // namespace teff::graphs
