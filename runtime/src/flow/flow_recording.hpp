// A recorded part of a flow, which can run again (src/flow/README.md, "Record and replay").
#pragma once

#include <teff/detail/replay/replay_core.hpp>

#include "flow/flow_core.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace teff::detail {

// A task as it was made.
struct flow_record {
  flow_task* task;
  std::vector<access> accesses;
};

class flow_recording {
 public:
  // From now on the flow's tasks are kept. The flow is at rest. Throws std::bad_alloc.
  explicit flow_recording(std::shared_ptr<flow_core> of);
  // Destroys the bodies.
  ~flow_recording();
  flow_recording(const flow_recording&) = delete;
  flow_recording& operator=(const flow_recording&) = delete;

  // The flow is at rest again. Plans the replay unless `failed`. Throws not_replayable, std::bad_alloc.
  void finish(bool failed);
  void replay(std::uint64_t times);
  [[nodiscard]] std::size_t tasks() const noexcept { return made_.size(); }

 private:
  // Numbers the runs in the logs as the tasks, and returns when the body of each task began. Throws
  // not_replayable.
  [[nodiscard]] std::vector<std::uint64_t> begun();
  void run_part(std::size_t part, std::uint64_t times);

  std::shared_ptr<flow_core> flow_;
  std::vector<flow_record> made_;
  std::vector<std::vector<flow_run>> logs_;     // by worker, while it records
  std::vector<std::vector<flow_task*>> lists_;  // of the workers that have tasks
  std::optional<replay_core> core_;
  bool records_ = false;
};

}  // namespace teff::detail
