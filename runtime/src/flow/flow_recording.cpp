#include <teff/detail/flow/flow_loop.hpp>
#include <teff/error.hpp>

#include "flow/flow_recording.hpp"
#include "flow/recorded_waits.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

namespace teff::detail {

namespace {

// The loop of a task that all workers run in a replay, or null.
flow_loop* shared_loop_of(flow_task& task) noexcept {
  flow_loop* const loop = task.body->loop != nullptr ? task.body->loop(task) : nullptr;
  return loop != nullptr && loop->workers() > 1 && loop->pays.load(std::memory_order_relaxed) ? loop
                                                                                              : nullptr;
}

}  // namespace

flow_recording::flow_recording(std::shared_ptr<flow_core> of)
    : flow_(std::move(of)), logs_(flow_->workers()) {
  if (flow_->recorded != nullptr)
    throw misuse("teff::flow::record: called while the flow is recorded: call it when that has returned");
  flow_->recorded = &made_;
  for (unsigned i = 0; i < logs_.size(); ++i) flow_->worker(i).log = &logs_[i];
  records_ = true;
}

flow_recording::~flow_recording() {
  if (records_) finish(true);
  const auto by = flow_->here_outside();
  for (const auto& each : made_) {
    each.task->body->destroy(*each.task);
    flow_->let_go(by, *each.task);
  }
}

void flow_recording::finish(bool failed) {
  records_ = false;
  flow_->recorded = nullptr;
  for (unsigned i = 0; i < logs_.size(); ++i) flow_->worker(i).log = nullptr;
  if (failed) return;

  const auto size = made_.size();
  const recorded_waits waits(made_);
  const auto rank = waits.ranks(begun());
  std::vector<std::uint32_t> counts;
  std::vector<std::vector<replay_task>> places(size);
  for (std::uint32_t worker = 0; worker < logs_.size(); ++worker) {
    std::vector<std::size_t> own;
    for (const auto& each : logs_[worker])
      if (shared_loop_of(*each.task) == nullptr) own.push_back(each.number);
    for (std::size_t i = 0; i < size; ++i)
      if (shared_loop_of(*made_[i].task) != nullptr) own.push_back(i);
    std::ranges::sort(own, {}, [&](std::size_t each) { return rank[each]; });
    for (std::uint32_t i = 0; i < own.size(); ++i) places[own[i]].push_back({worker, i});
    counts.push_back(static_cast<std::uint32_t>(own.size()));
    if (own.empty()) continue;
    auto& list = lists_.emplace_back();
    for (const auto each : own) list.push_back(made_[each].task);
  }
  logs_.clear();
  auto edges = waits.edges(places);
  // A worker that begins a loop anew finds no other worker in the iteration before.
  for (std::size_t i = 0; i < size; ++i)
    if (shared_loop_of(*made_[i].task) != nullptr)
      for (const auto& a : places[i])
        for (const auto& b : places[i]) edges.push_back({a, b, true});
  core_.emplace(flow_->runtime(), replay_plan(counts, edges, true));
}

std::vector<std::uint64_t> flow_recording::begun() {
  std::unordered_map<const flow_task*, std::size_t> number;
  for (std::size_t i = 0; i < made_.size(); ++i) number.emplace(made_[i].task, i);
  std::vector<std::uint64_t> all(made_.size());
  std::size_t ran = 0;
  for (auto& log : logs_)
    for (auto& each : log) {
      const auto found = number.find(each.task);
      if (found == number.end())
        throw not_replayable(
            "teff::flow::record: a task made tasks in its body, which a replay does not repeat: "
            "make them outside, or run this part without a recording");
      each.number = found->second;
      all[each.number] = each.begun;
      ++ran;
    }
  if (ran != made_.size())
    throw not_replayable("teff::flow::record: the flow was cancelled, and only " + std::to_string(ran) +
                         " of " + std::to_string(made_.size()) +
                         " tasks have run: record a run in which all tasks run");
  return all;
}

void flow_recording::replay(std::uint64_t times) {
  flow_->expect_runtime("teff::flow_recording::replay");
  expect_own_process(flow_->runtime());
  if (times == 0 || !core_) return;
  // A replay that failed has left iterations behind.
  for (const auto& each : made_)
    if (flow_loop* const loop = shared_loop_of(*each.task)) {
      for (unsigned i = 0; i < loop->workers(); ++i) loop->set(i, {});
      loop->expect(loop->workers());
      loop->forget(each.task->closure);
    }
  const auto run_any = [&](std::size_t part) {
    catch_all([&] { run_part(part, times); }, [&] { core_->fail(std::current_exception()); });
  };
  core_->replay(replay_core::part_runner(run_any));
}

void flow_recording::run_part(std::size_t part, std::uint64_t times) {
  const auto outer = std::exchange(flow_core::replayed, flow_.get());
  const auto step = [&](std::size_t list, std::size_t index, std::uint64_t) {
    flow_task& task = *lists_[list][index];
    if (shared_loop_of(task) != nullptr)
      return flow_core::replay_loop(
          core_->parts()[list].worker, task,
          [](const void* of) { return static_cast<const replay_core*>(of)->failed(); }, &*core_);
    task.body->run(task);
    combine_all(task);
  };
  undo_if_thrown([&] { run_replay_part(*core_, part, times, step); }, [&] { flow_core::replayed = outer; });
  flow_core::replayed = outer;
}

}  // namespace teff::detail
