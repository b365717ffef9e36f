#include "teff/graphs/dependence_table.hpp"

#include <algorithm>

namespace teff::graphs {

dependence_table::dependence_table(const task_graph& graph)
    : graph_(graph), sets_(graph.dependence_sets()), varying_width_(graph.pattern->varying_width) {
  const auto fill = [&](rows& table, auto query) {
    table.width = graph.width;
    table.starts.reserve(static_cast<std::size_t>(sets_ * graph.width) + 1);
    for (std::int64_t set = 0; set < sets_; ++set) {
      for (std::int64_t point = 0; point < graph.width; ++point) {
        std::int64_t points = 0;
        auto keep = [&](interval each) {
          table.intervals.push_back(each);
          points += each.size();
        };
        query(graph, set, point, interval_sink(keep));
        table.starts.push_back(table.intervals.size());
        table.max_points = std::max(table.max_points, static_cast<std::size_t>(points));
      }
    }
  };
  fill(forward_, graph.pattern->dependencies);
  fill(reverse_, graph.pattern->reverse_dependencies);
}

}  // namespace teff::graphs
