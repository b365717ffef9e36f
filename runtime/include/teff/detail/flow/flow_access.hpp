// A flow as its templates use it. The rest of it is compiled once (src/flow/flow_core.hpp).
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/flow_task.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace teff::detail {

class flow_core;
class flow_pool;
class scheduler;
struct flow_counts;
struct flow_worker;

// The thread that makes tasks, and their domain.
struct flow_creator {
  flow_worker* on;    // null: the thread is no worker of the runtime
  flow_task* parent;  // null: the flow itself
  flow_pool& pool;
  flow_counts& counts;
  bool ends = false;  // it ends a task just now
};

// The flow of this runtime, which sees it. Throws invalid_option, std::bad_alloc.
[[nodiscard]] std::shared_ptr<flow_core> make_flow(scheduler& runtime, unsigned workers);
// Before it is destroyed.
void end_flow(flow_core& flow) noexcept;
[[nodiscard]] unsigned workers_of(const flow_core& flow) noexcept;

// Memory for a task with these accesses, and a closure, which the caller makes before it submits the task.
// Throws misuse, not_replayable, runtime_was_shut_down, std::bad_alloc.
struct begun_task {
  flow_creator by;
  flow_task* task;
};
[[nodiscard]] begun_task begin_task(flow_core& flow, const flow_body& body, std::span<const access> accesses,
                                    std::size_t bytes, std::size_t alignment);
// Of a task whose closure could not be made.
void drop_task(flow_core& flow, const begun_task& begun);
// As flow_core::submit(); if the flow is checked, as flow_core::run_checked().
void submit_task(flow_core& flow, const begun_task& begun, std::span<const access> accesses);

// flow::wait(), without and with accesses.
void wait_for_tasks(flow_core& flow);
void wait_for_accesses(flow_core& flow, std::span<const access> accesses);

// flow::check() and flow::cancel().
void check_flow(flow_core& flow, bool on);
void cancel_flow(flow_core& flow) noexcept;

// The tasks of a recording.
class recorded_tasks {
 public:
  virtual ~recorded_tasks() = default;
  virtual void finish(bool failed) = 0;  // after make() of flow::record()
  virtual void replay(std::uint64_t times) = 0;
  [[nodiscard]] virtual std::size_t tasks() const noexcept = 0;
};
// flow::record(), before make().
[[nodiscard]] std::unique_ptr<recorded_tasks> begin_recording(const std::shared_ptr<flow_core>& flow);

}  // namespace teff::detail
