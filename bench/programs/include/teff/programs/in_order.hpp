#pragma once

#include <cstdint>

#include "teff/programs/ways.hpp"

namespace teff::programs {

/// The calling thread runs all ways in order: the reference for every result.
class in_order {
 public:
  static void run_tasks(auto body) { body(); }
  static void invoke(auto first, auto second) {
    first();
    second();
  }
  struct tasks {
    static void spawn(auto task) { task(); }
  };
  static void scope(auto body) {
    tasks all;
    body(all);
  }

  static void run_loops(auto body) { body(); }
  static void parallel_for(std::int64_t first, std::int64_t last, std::int64_t /*grain*/, const auto& body) {
    for (; first < last; ++first) body(first);
  }
  template <class T>
  static T sum(std::int64_t first, std::int64_t last, const auto& value) {
    T total{};
    for (; first < last; ++first) total += value(first);
    return total;
  }

  template <task_graph Graph>
  static void run_graph(const Graph& graph) {
    for (std::int64_t task = 0; task < graph.tasks(); ++task) graph.execute(task);
  }

  static auto request(const auto& body) { return body(); }
  static void request_all(std::int64_t count, const auto& body) {
    for (std::int64_t i = 0; i < count; ++i) body(i);
  }

  static void run_pipeline(std::int64_t items, std::int64_t /*tokens*/, const auto&... stages) {
    for (std::int64_t item = 0; item < items; ++item) (stages.run(item), ...);
  }
};

}  // namespace teff::programs
