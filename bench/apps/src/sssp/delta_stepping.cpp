#include "sssp/delta_stepping.hpp"

#include <algorithm>
#include <atomic>
#include <span>

namespace teff::apps::sssp {
namespace {

constexpr std::size_t few = 1000;  // vertices, which take a thread less time than a round does

/// Lowers a distance to `to`, unless it is as low already. Relaxed: a thread that reads an older distance
/// relaxes edges for nothing, and the vertex is in a bin again. The end of the loop orders all else.
bool lower(distance& from, distance to) {
  const std::atomic_ref<distance> shared(from);
  distance before = shared.load(std::memory_order_relaxed);
  while (to < before)
    if (shared.compare_exchange_weak(before, to, std::memory_order_relaxed)) return true;
  return false;
}

void relax_edges(problem& p, std::size_t bucket, std::span<const vertex> of, bins& mine) {
  const auto settled = static_cast<distance>(bucket) * p.delta;
  for (const vertex from : of) {
    const distance so_far = std::atomic_ref(p.distances[std::size_t(from)]).load(std::memory_order_relaxed);
    if (so_far < settled) continue;  // an earlier bucket had the vertex too
    for (const auto& [to, length] : p.of.edges_of(from))
      if (lower(p.distances[std::size_t(to)], so_far + length))
        mine.add(std::size_t((so_far + length) / p.delta), to);
  }
}

/// Relaxes the edges of the vertices of a bucket, and those of the vertices that fall into it again, while
/// they are few.
void relax_vertices(problem& p, std::size_t bucket, std::span<const vertex> of, bins& mine) {
  relax_edges(p, bucket, of, mine);
  while (mine.count(bucket) != 0 && mine.count(bucket) < few) relax_edges(p, bucket, mine.take(bucket), mine);
}

void make_task(problem& p, task_maker& by, std::size_t bucket) {
  by.spawn(-static_cast<int>(bucket), [&p, &by, bucket] {
    const shared_bins::part some = p.of_tasks.take(bucket, few);
    if (!some.is_last) make_task(p, by, bucket);
    const pool_of_bins::loan mine(p.bins);
    relax_vertices(p, bucket, some.vertices, *mine);
    for (const std::size_t woken : p.of_tasks.add(*mine)) make_task(p, by, woken);
  });
}

void run_tasks(problem& p, task_maker& by) {
  by.run_spawning([&p, &by] {
    bins first;
    first.add(0, p.source);
    for (const std::size_t bucket : p.of_tasks.add(first)) make_task(p, by, bucket);
  });
}

void run_rounds(problem& p, way& by) {
  const auto each = [&p, &by](const auto& of, auto kernel) {
    by.run({.name = {},
            .count = static_cast<std::int64_t>(of.size()),
            .accesses = {},
            .body = [&p, kernel](range some) { kernel(p, some.begin, some.end); }});
  };
  p.bucket = 0;
  pool_of_bins::loan(p.bins)->add(0, p.source);
  while (next_round(p)) {
    each(p.bins, gather);
    each(p.frontier, relax);
  }
}

}  // namespace

problem::problem(const graph& of, vertex source, distance delta)
    : of(of), source(source), delta(delta), distances(std::size_t(of.vertices())) {}

bool next_round(problem& p) {
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t lowest = none;
  for (std::size_t i = 0; i < p.bins.size(); ++i)
    if (const std::size_t found = p.bins[i].lowest(p.bucket); found < p.bins[i].buckets())
      lowest = std::min(lowest, found);
  if (lowest == none) return false;

  p.bucket = lowest;
  p.gathered.assign(1, 0);
  for (std::size_t i = 0; i < p.bins.size(); ++i)
    p.gathered.push_back(p.gathered.back() + p.bins[i].count(lowest));
  p.frontier.resize(p.gathered.back());
  return true;
}

void gather(problem& p, std::int64_t begin, std::int64_t end) {
  for (auto i = std::size_t(begin); i < std::size_t(end); ++i)
    if (p.bins[i].count(p.bucket) != 0) {
      std::vector<vertex>& from = p.bins[i][p.bucket];
      std::ranges::copy(from, p.frontier.begin() + std::ptrdiff_t(p.gathered[i]));
      from.clear();
    }
}

void relax(problem& p, std::int64_t begin, std::int64_t end) {
  const pool_of_bins::loan mine(p.bins);
  relax_vertices(p, p.bucket, std::span(p.frontier).subspan(std::size_t(begin), std::size_t(end - begin)),
                 *mine);
}

void solve(problem& p, way& by) {
  std::ranges::fill(p.distances, unreached);
  p.distances[std::size_t(p.source)] = 0;
  if (task_maker* const tasks = by.spawns())
    run_tasks(p, *tasks);
  else if (keyed_tasks* const graph = by.graph())
    solve_in_parts(p, *graph);
  else
    run_rounds(p, by);
}

}  // namespace teff::apps::sssp
