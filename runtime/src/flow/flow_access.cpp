#include <teff/detail/flow/flow_access.hpp>
#include <teff/detail/flow/flow_body.hpp>
#include <teff/error.hpp>

#include "flow/flow_core.hpp"
#include "flow/flow_recording.hpp"

#include <utility>

namespace teff::detail {

namespace {

// Throws misuse if a task of the flow calls it.
void expect_outside(const flow_core& flow, const char* call) {
  if (flow.is_within()) [[unlikely]]
    refuse_within_task(call);
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

void append_access(std::vector<access>& to, const access& one) {
  to.push_back(one);
}

void wait_for_tasks(flow_core& flow) {
  if (flow.is_within()) [[unlikely]]
    return flow.wait_for_inner("teff::flow::wait");
  if (flow.checker != nullptr) flow.checker->forget();
  flow.wait();
}

void expect_to_wait_for_some(flow_core& flow) {
  if (flow.is_within()) [[unlikely]]
    flow.expect_inner_end("teff::flow::wait");
  if (flow.recorded != nullptr) [[unlikely]]
    throw not_replayable(
        "teff::flow::wait: called for some accesses while the flow is recorded: a "
        "replay has tasks only; wait after record() has returned");
}

void make_and_wait(flow_core& flow, void (*make)(void* what), void* what, const std::atomic<bool>& begun) {
  flow.make_and_wait(make, what, [&begun] { return begun.load(); });
}

void tell_begun(flow_core& flow, std::atomic<bool>& begun) noexcept {
  begun.store(true, std::memory_order_seq_cst);  // before the look for waiters
  flow.wake_helpers();
}

void may_be_freed(flow_core& flow, std::span<const access> accesses) {
  if (flow.checker != nullptr && !flow.is_within()) [[unlikely]]
    flow.checker->forget(accesses);
}

void check_flow(flow_core& flow, bool on) {
  if (flow.recorded != nullptr) [[unlikely]]
    throw misuse("teff::flow::check: called while the flow is recorded: call it when record() has returned");
  expect_outside(flow, "teff::flow::check");
  wait_for_tasks(flow);
  flow.checker = on ? std::make_unique<flow_checker>() : nullptr;
}

void cancel_flow(flow_core& flow) noexcept {
  flow.fail(nullptr);
}

// ---- Recordings ----

owned_recording begin_recording(const std::shared_ptr<flow_core>& flow) {
  if (flow->checker != nullptr) [[unlikely]]
    throw misuse(
        "teff::flow::record: called while the flow is checked, and then each task runs where it is "
        "made: call "
        "check(false) first");
  expect_outside(*flow, "teff::flow::record");
  wait_for_tasks(*flow);
  return {new flow_recording(flow), [](flow_recording* gone) noexcept { delete gone; }};
}

void finish_recording(flow_recording& all, bool failed) {
  all.finish(failed);
}

void replay(flow_recording& all, std::uint64_t times) {
  all.replay(times);
}

std::size_t tasks_of(const flow_recording& all) noexcept {
  return all.tasks();
}

}  // namespace teff::detail
