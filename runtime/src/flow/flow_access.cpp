#include <teff/detail/flow/flow_access.hpp>
#include <teff/error.hpp>

#include "flow/flow_core.hpp"
#include "flow/flow_recording.hpp"

#include <algorithm>
#include <string>

namespace teff::detail {

namespace {

// Throws misuse if a task of the flow calls it.
void expect_outside(const flow_core& flow, const char* call) {
  if (!flow.is_within()) return;
  throw misuse(
      std::string(call) +
      ": called within a task of the same flow, whose end it would wait for: let the task end, which "
      "waits for the tasks made in it, and do the rest in a task that follows");
}

}  // namespace

std::shared_ptr<flow_core> make_flow(scheduler& runtime, unsigned workers) {
  auto made = std::make_shared<flow_core>(runtime, workers);
  attach(runtime, made);
  return made;
}

void end_flow(flow_core& flow) noexcept {
  flow.abandon_if_unfinished();
  if (flow.has_runtime()) detach(flow.runtime(), flow);
}

unsigned workers_of(const flow_core& flow) noexcept {
  return flow.workers();
}

void wait_for_tasks(flow_core& flow) {
  if (flow.is_within()) [[unlikely]]
    return flow.wait_for_inner("teff::flow::wait");
  if (flow.checker != nullptr) flow.checker->forget();
  flow.wait();
}

void wait_for_accesses(flow_core& flow, std::span<const access> accesses) {
  flow.wait_for(accesses);
}

void check_flow(flow_core& flow, bool on) {
  if (flow.recorded != nullptr) [[unlikely]]
    throw misuse("teff::flow::check: called while the flow is recorded: call it when record() has returned");
  expect_outside(flow, "teff::flow::check");
  wait_for_tasks(flow);
  flow.forget_repetition();
  flow.checker = on ? std::make_unique<flow_checker>() : nullptr;
}

void cancel_flow(flow_core& flow) noexcept {
  flow.fail(nullptr);
}

// ---- Recordings ----

std::unique_ptr<recorded_tasks> begin_recording(const std::shared_ptr<flow_core>& flow) {
  if (flow->checker != nullptr) [[unlikely]]
    throw misuse(
        "teff::flow::record: called while the flow is checked, and then each task runs where it is "
        "made: call "
        "check(false) first");
  expect_outside(*flow, "teff::flow::record");
  wait_for_tasks(*flow);
  flow->forget_repetition();
  return std::make_unique<flow_recording>(flow);
}

// ---- Calls that it refuses ----

void refuse_section(std::size_t first, std::size_t count, std::size_t rows, std::size_t stride,
                    std::size_t size) {
  const std::string in_rows =
      rows == 1 ? "" : std::to_string(rows) + " rows, " + std::to_string(stride) + " elements apart, of ";
  throw misuse("teff::section: " + in_rows + std::to_string(count) + " elements from element " +
               std::to_string(first) + " on are not all in a range of " + std::to_string(size) +
               ": name elements that the range has");
}

void flow_core::refuse_beside_body(const char* call) {
  throw misuse(
      std::string(call) +
      ": called for a task of the same flow, but not on the thread of its body, which may make inner "
      "tasks meanwhile: call it in the body itself, not in blocking(), in a parallel loop, in a task of "
      "a scope, or in what the end of a task calls");
}

void flow_core::refuse_in_chunk(const char* call) {
  throw misuse(std::string(call) +
               ": called in a chunk of a worksharing task of the same flow, whose other chunks may run "
               "meanwhile: let a task by flow::task make the inner tasks");
}

void flow_core::expect_to_make(bool in_chunk, const flow_body& body, std::span<const access> accesses) const {
  if (in_chunk || (checker != nullptr && checker->is_within_loop())) refuse_in_chunk("teff::flow::task");
  if (replayed == this)
    throw not_replayable(
        "teff::flow::task: called in the body of a replayed task, which made no task when it was recorded: "
        "make all tasks outside, or record anew");
  if (body.loop != nullptr && std::ranges::any_of(accesses, &access::weak))
    throw misuse(
        "teff::flow::task_for: it has a weak access, which only inner tasks touch, and a chunk can make "
        "none: "
        "name the access without weak(), or let a task by flow::task make worksharing tasks");
}

}  // namespace teff::detail
