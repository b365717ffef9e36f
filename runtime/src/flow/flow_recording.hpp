// A recorded part of a flow, which can run again (src/flow/README.md, "Record and replay").
#pragma once

#include <teff/detail/replay/replay_core.hpp>
#include <teff/detail/replay/replay_plan.hpp>

#include "flow/flow_core.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace teff::detail {

// A task as it was made.
struct flow_record {
  flow_task* task;  // of a recording
  std::vector<access> accesses;
  // Of a memo.
  const flow_body* body = nullptr;
  std::size_t bytes = 0;  // of its closure
};

// The groups of accesses of the tasks, taken twice in a row: task i of the next iteration has the number
// tasks + i. The waits within the next iteration are those within this one.
struct recorded_waits {
  // The flow orders the tasks as it does when the program makes them. `in_turns`: the reductions of a row
  // within an iteration may run at the same time. Else a reduction is a writer. Throws std::bad_alloc.
  recorded_waits(flow_core& flow, const std::vector<flow_record>& made, bool in_turns = false);

  struct group {
    std::vector<std::size_t> members;    // tasks of this iteration
    std::vector<std::size_t> earlier;    // groups that must end before it does
    std::vector<std::size_t> followers;  // tasks of either iteration, which wait for its end
  };
  std::size_t tasks;
  std::vector<group> groups;      // in the order in which they begin
  bool splits_reduction = false;  // a task with a reduction has accesses that the table divides

  // Leaves out each wait that others imply: a task that waits for the next writer of a range need not wait
  // for the readers before (implied_waits.cpp).
  void drop_implied();
  // The order in which a replay runs the tasks of one worker: that in which their bodies began, as far as the
  // waits allow. A replay orders commutative accesses and reductions as writers; the recorded run did not.
  // All waits follow the order, so the lists of the workers and the waits have no cycle.
  [[nodiscard]] std::vector<std::size_t> ranks(std::vector<std::uint64_t> begun) const;
  // The waits between tasks in the lists of workers. `places`: of each task.
  [[nodiscard]] std::vector<replay_edge> edges(const std::vector<std::vector<replay_task>>& places) const;
};

class flow_recording final : public recorded_tasks {
 public:
  // From now on the flow's tasks are kept. The flow is at rest. Throws std::bad_alloc.
  explicit flow_recording(std::shared_ptr<flow_core> of);
  // Destroys the bodies.
  ~flow_recording() override;

  // The flow is at rest again. Plans the replay unless `failed`. Throws not_replayable, std::bad_alloc.
  void finish(bool failed) override;
  void replay(std::uint64_t times) override;
  [[nodiscard]] std::size_t tasks() const noexcept override { return made_.size(); }

 private:
  // When the body of each task began. Throws not_replayable.
  [[nodiscard]] std::vector<std::uint64_t> begun() const;
  void run_part(std::size_t part, std::uint64_t times);

  std::shared_ptr<flow_core> flow_;
  std::vector<flow_record> made_;
  std::vector<std::vector<flow_run>> logs_;     // by worker, while it records
  std::vector<std::vector<flow_task*>> lists_;  // of the workers that have tasks
  std::optional<replay_core> core_;
  bool records_ = false;
};

}  // namespace teff::detail
