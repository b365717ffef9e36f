#include <teff/detail/flow/flow_access.hpp>
#include <teff/detail/flow/flow_body.hpp>
#include <teff/error.hpp>

#include "flow/flow_core.hpp"
#include "flow/flow_recording.hpp"

#include <utility>

namespace teff::detail {

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

void expect_outside_tasks(const flow_core& flow, const char* call) {
  if (flow.is_within()) [[unlikely]]
    refuse_within_task(call);
}

void wait_for_tasks(flow_core& flow) {
  expect_outside_tasks(flow, "teff::flow::wait");
  if (flow.checker != nullptr) flow.checker->forget();
  flow.wait();
}

void expect_to_wait_for_some(const flow_core& flow) {
  if (flow.recorded != nullptr) [[unlikely]]
    throw not_replayable(
        "teff::flow::wait: called for some accesses while the flow is recorded: a "
        "replay has tasks only; wait after record() has returned");
}

void tell_begun(flow_core& flow, std::atomic<bool>& begun) noexcept {
  begun.store(true, std::memory_order_seq_cst);  // before the look for waiters
  flow.wake_helpers();
}

void wait_for_begun(flow_core& flow, std::atomic<bool>& begun, std::span<const access> accesses) {
  if (flow.checker != nullptr) [[unlikely]]
    flow.checker->forget(accesses);
  flow.help_until([](const void* what) { return static_cast<const std::atomic<bool>*>(what)->load(); },
                  &begun);
}

flow_in_use::flow_in_use(flow_core& flow)
    : runtime_(here().runtime == &flow.runtime() ? nullptr : &flow.runtime()) {
  if (runtime_ != nullptr) begin_call(*runtime_);
}

flow_in_use::~flow_in_use() {
  if (runtime_ != nullptr) end_call(*runtime_);
}

void check_flow(flow_core& flow, bool on) {
  if (flow.recorded != nullptr) [[unlikely]]
    throw misuse("teff::flow::check: called while the flow is recorded: call it when record() has returned");
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
