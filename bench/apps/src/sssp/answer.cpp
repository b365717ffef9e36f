#include "sssp/answer.hpp"

#include <algorithm>
#include <cstddef>

namespace teff::apps::sssp {
namespace {

bool is_right(const problem& p, vertex at) {
  const auto distance_of = [&](vertex each) { return p.distances[std::size_t(each)]; };
  const distance mine = distance_of(at);
  if (mine == unreached) return at != p.source;  // an edge from a reached vertex is that vertex's fault
  const std::span<const graph::edge> edges = p.of.edges_of(at);
  const auto shortens = [&](const graph::edge& each) { return mine + each.length < distance_of(each.to); };
  const auto explains = [&](const graph::edge& each) { return distance_of(each.to) == mine - each.length; };
  if (std::ranges::any_of(edges, shortens)) return false;
  return at == p.source ? mine == 0 : std::ranges::any_of(edges, explains);
}

}  // namespace

answer read_answer(const problem& p) {
  answer read;
  for (const distance each : p.distances)
    if (each != unreached) {
      ++read.reached;
      read.sum += each;
      read.greatest = std::max(read.greatest, each);
    }
  return read;
}

std::int64_t wrong_distances(const problem& p, std::int64_t begin, std::int64_t end) {
  std::int64_t wrong = 0;
  for (std::int64_t at = begin; at < end; ++at) wrong += !is_right(p, static_cast<vertex>(at));
  return wrong;
}

}  // namespace teff::apps::sssp
