// Which tasks of a recording wait for which (src/flow/README.md, "Record and replay").
#pragma once

#include <teff/detail/replay/replay_plan.hpp>

#include "flow/flow_recording.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teff::detail {

// Node `to` waits for node `from`.
struct recorded_wait {
  std::size_t from;
  std::size_t to;
};

// The first nodes are the tasks, in the order of their making. The next ones are the same tasks in the next
// iteration. The others are the ends of groups whose members run at the same time. An end waits for the
// members of its group, and the tasks that follow wait for the end. So N readers before M tasks need N + M
// waits. In `waits`, an end stands as `to` before it stands as `from`.
struct recorded_waits {
  explicit recorded_waits(const std::vector<flow_record>& made);

  std::size_t tasks;
  std::size_t nodes;
  std::vector<recorded_wait> waits;

  // The order in which a replay runs the tasks of one worker: that in which their bodies began, as far as the
  // waits allow. A replay orders commutative accesses and reductions as writers; the recorded run did not.
  // All waits follow the order, so the lists of the workers and the waits have no cycle.
  [[nodiscard]] std::vector<std::size_t> ranks(std::vector<std::uint64_t> begun) const;
  // The waits between tasks in the lists of workers. `places`: of each task.
  [[nodiscard]] std::vector<replay_edge> edges(const std::vector<std::vector<replay_task>>& places) const;
};

}  // namespace teff::detail
