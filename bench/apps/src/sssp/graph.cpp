#include "sssp/graph.hpp"

#include <algorithm>
#include <numeric>

namespace teff::apps::sssp {

graph::graph(vertex vertices, std::span<const listed_edge> list) : first_(std::size_t(vertices) + 1) {
  const auto visit_both_ways = [list](auto&& visit) {
    for (const listed_edge& each : list)
      if (each.from != each.to) {
        visit(std::size_t(each.from), edge{each.to, each.length});
        visit(std::size_t(each.to), edge{each.from, each.length});
      }
  };

  visit_both_ways([&](std::size_t from, const edge&) { ++first_[from + 1]; });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  edges_.resize(std::size_t(first_.back()));
  std::vector<std::int64_t> next(first_.begin(), first_.end() - 1);
  visit_both_ways([&](std::size_t from, const edge& each) { edges_[std::size_t(next[from]++)] = each; });

  // Sorted, the shortest of parallel edges comes first. The kept edges move up into the gaps.
  auto kept = edges_.begin();
  for (std::size_t from = 0; from + 1 < first_.size(); ++from) {
    const auto begin = edges_.begin() + first_[from];
    const auto end = edges_.begin() + next[from];
    std::sort(begin, end);
    first_[from] = kept - edges_.begin();
    kept = std::unique_copy(begin, end, kept, [](const edge& a, const edge& b) { return a.to == b.to; });
  }
  first_.back() = kept - edges_.begin();
  edges_.resize(std::size_t(first_.back()));
  edges_.shrink_to_fit();
}

}  // namespace teff::apps::sssp
