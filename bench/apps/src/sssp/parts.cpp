#include "sssp/parts.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

#include "sssp/delta_stepping.hpp"

namespace teff::apps::sssp {
namespace {

constexpr std::size_t no_bucket = std::numeric_limits<std::size_t>::max();
constexpr std::int32_t choice = -1;  ///< stands for a part in the key of the task that chooses the bucket

class rounds {
 public:
  rounds(problem& p, keyed_tasks& by) : p_(p), by_(by), cut_(p.of.vertices(), by.parts()) {
    const auto parts = std::size_t(cut_.parts());
    if (p_.parts.size() != parts) p_.parts = std::vector<part>(parts);
    for (part& each : p_.parts) {
      each.lowest = no_bucket;
      for (auto& to : each.sent) to.resize(parts);
    }
    part& first = p_.parts[part_of(p_.source)];
    first.buckets.add(0, p_.source);
    first.lowest = 0;
  }

  void run() {
    by_.run_graph({.indegree = [this](task_key of) { return indegree(of); },
                   .body = [this](task_key of) { run(of[0], of[1]); }},
                  [this] { by_.fulfill({0, choice}); });
  }

 private:
  [[nodiscard]] std::size_t part_of(vertex of) const { return std::size_t(cut_.part_of(of)); }

  [[nodiscard]] int indegree(task_key of) const {
    if (of[1] != choice) return 1;
    return of[0] == 0 ? 0 : static_cast<int>(p_.parts.size());
  }

  void run(std::int32_t round, std::int32_t which) {
    if (which == choice) {
      choose(round);
      return;
    }
    receive(round, std::size_t(which));
    relax(round, std::size_t(which));
    by_.fulfill({round + 1, choice});
  }

  void choose(std::int32_t round) {
    p_.bucket = std::ranges::min_element(p_.parts, {}, &part::lowest)->lowest;
    if (p_.bucket == no_bucket) return;
    for (std::int32_t each = 0; each < cut_.parts(); ++each) by_.fulfill({round, each});
  }

  /// Relaxed: other parts' tasks of the same round read the distance, too. If they read an older one, they
  /// send a request for nothing.
  [[nodiscard]] distance read(vertex of) const {
    return std::atomic_ref(p_.distances[std::size_t(of)]).load(std::memory_order_relaxed);
  }
  void lower(part& own, vertex of, distance to) {
    std::atomic_ref(p_.distances[std::size_t(of)]).store(to, std::memory_order_relaxed);
    own.buckets.add(std::size_t(to / p_.delta), of);
  }

  /// Lowers distances by the requests of the round before.
  void receive(std::int32_t round, std::size_t here) {
    for (part& from : p_.parts) {
      std::vector<request>& received = from.sent[std::size_t(round + 1) % 2][here];
      for (const auto& [to, length] : received)
        if (length < read(to)) lower(p_.parts[here], to, length);
      received.clear();
    }
  }

  void relax(std::int32_t round, std::size_t here) {
    part& own = p_.parts[here];
    std::vector<std::vector<request>>& sent = own.sent[std::size_t(round) % 2];
    const auto settled = static_cast<distance>(p_.bucket) * p_.delta;
    distance nearest_sent = unreached;
    while (own.buckets.count(p_.bucket) != 0)
      for (const vertex from : own.buckets.take(p_.bucket)) {
        const distance so_far = read(from);
        if (so_far < settled) continue;  // an earlier bucket had the vertex too
        for (const auto& [to, edge] : p_.of.edges_of(from)) {
          const distance length = so_far + edge;
          if (length >= read(to)) continue;
          if (const std::size_t owner = part_of(to); owner == here) {
            lower(own, to, length);
          } else {
            sent[owner].push_back({to, length});
            nearest_sent = std::min(nearest_sent, length);
          }
        }
      }
    const std::size_t left = own.buckets.lowest(p_.bucket);
    own.lowest = left < own.buckets.buckets() ? left : no_bucket;
    if (nearest_sent != unreached) own.lowest = std::min(own.lowest, std::size_t(nearest_sent / p_.delta));
  }

  problem& p_;
  keyed_tasks& by_;
  cut cut_;
};

}  // namespace

void solve_in_parts(problem& p, keyed_tasks& by) {
  rounds(p, by).run();
}

}  // namespace teff::apps::sssp
