// A flow as its templates use it. The rest of it is compiled once (src/flow/flow_core.hpp).
#pragma once

#include <teff/detail/flow/access.hpp>
#include <teff/detail/flow/flow_task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace teff::detail {

class flow_core;
class flow_pool;
class flow_recording;
class scheduler;
struct flow_counts;
struct flow_worker;

// The thread that makes tasks, and their domain.
struct flow_maker {
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
// Throws runtime_was_shut_down, std::bad_alloc.
struct begun_task {
  flow_maker by;
  flow_task* task;
};
[[nodiscard]] begun_task begin_task(flow_core& flow, std::span<const access> accesses, std::size_t bytes,
                                    std::size_t alignment);
// Of a task whose closure could not be made.
void drop_task(const begun_task& begun) noexcept;
// As flow_core::submit(); if the flow is checked, as flow_core::run_checked().
void submit_task(flow_core& flow, const begun_task& begun, std::span<const access> accesses);

// As flow::wait().
void wait_for_tasks(flow_core& flow);
// Before a wait for some memory. Throws misuse in a body whose inner tasks may wait for tasks outside, and
// not_replayable while the flow is recorded.
void expect_to_wait_for_some(flow_core& flow);
// Calls make(what), which makes a task that calls tell_begun() when it could begin, and waits for that.
void make_and_wait(flow_core& flow, void (*make)(void* what), void* what, const std::atomic<bool>& begun);
void tell_begun(flow_core& flow, std::atomic<bool>& begun) noexcept;
// The program may free this memory after the wait for it.
void may_be_freed(flow_core& flow, std::span<const access> accesses);

// As flow::check() and flow::cancel().
void check_flow(flow_core& flow, bool on);
void cancel_flow(flow_core& flow) noexcept;

using owned_recording = std::unique_ptr<flow_recording, void (*)(flow_recording*) noexcept>;
// As flow::record(), before make() and after it.
[[nodiscard]] owned_recording begin_recording(const std::shared_ptr<flow_core>& flow);
void finish_recording(flow_recording& all, bool failed);
void replay(flow_recording& all, std::uint64_t times);
[[nodiscard]] std::size_t tasks_of(const flow_recording& all) noexcept;

}  // namespace teff::detail
