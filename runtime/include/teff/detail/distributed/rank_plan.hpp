// The waits of the tasks of a distributed replay, as far as their keys do not matter
// (src/distributed/replay.md).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace teff::detail {

// A worker of a rank.
struct rank_worker {
  std::int32_t rank;
  std::uint32_t worker;
  friend auto operator<=>(const rank_worker&, const rank_worker&) = default;
};

// A task of an iteration: the index-th in the list of its worker.
struct rank_task {
  rank_worker on;
  std::uint32_t index;
  friend auto operator<=>(const rank_task&, const rank_task&) = default;
};

// A task reads the output that another one has made so many iterations before.
struct rank_read {
  rank_task from;
  std::uint32_t before;
};

// A task of this rank.
struct rank_planned_task {
  std::size_t bytes = 0;  // of its output
  std::vector<rank_read> reads;
};
using rank_lists = std::vector<std::vector<rank_planned_task>>;  // by worker

// Task `index` of a worker waits until `on` has ended, so many iterations before its own.
struct rank_need {
  std::uint32_t worker;
  std::uint32_t index;
  rank_task on;
  std::int64_t before;
};

// How many outputs are kept of a task with so many bytes, whose readers are at most so many iterations
// behind: a power of two.
[[nodiscard]] std::uint32_t outputs_kept(std::size_t bytes, std::uint32_t most_before) noexcept;

// Drops what a worker knows when it gets there, since it has waited for the same or a later task of the same
// other worker, in this iteration or the one before. `tasks`: how many each worker has that is waited for.
[[nodiscard]] std::vector<rank_need> reduced(std::vector<rank_need> needs,
                                             const std::map<rank_worker, std::uint32_t>& tasks);

}  // namespace teff::detail
