#include <teff/detail/flow/flow_loop.hpp>
#include <teff/error.hpp>

#include "flow/flow_recording.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>

namespace teff::detail {

namespace {

// The loop of a task that all workers run in a replay, or null.
flow_loop* shared_loop_of(flow_task& task) noexcept {
  flow_loop* const loop = task.body->loop != nullptr ? task.body->loop(task) : nullptr;
  return loop != nullptr && loop->workers() > 1 && loop->pays.load(std::memory_order_relaxed) ? loop
                                                                                              : nullptr;
}

// Of the tasks in each list, keeps the first one only, or the last one. A list runs in order.
void keep_one_of_each_list(std::vector<replay_task>& all, bool last) {
  std::ranges::sort(all, {}, [last](const replay_task& each) {
    return std::pair(each.worker, last ? ~each.index : each.index);
  });
  const auto rest = std::ranges::unique(all, {}, &replay_task::worker);
  all.erase(rest.begin(), rest.end());
}

void append(std::vector<replay_task>& to, const std::vector<replay_task>& what) {
  to.insert(to.end(), what.begin(), what.end());
}

}  // namespace

// ---- Which tasks wait for which ----

// The flow has forgotten which task waited for which. So it places tasks with the same accesses once more, in
// a domain of their own. These tasks never run. So no group ends, and the list of a group has all tasks that
// wait for it.
recorded_waits::recorded_waits(flow_core& flow, const std::vector<flow_record>& made, bool in_turns)
    : tasks(made.size()) {
  const auto by = flow.creator_outside();
  const auto forget = [&](flow_task* task) {
    task->references.store(1, std::memory_order_relaxed);
    flow_core::drop_reference(*task, by.pool);
  };
  std::vector<std::unique_ptr<flow_task, decltype(forget)>> placed;
  flow_domain domain;
  // A group by the member in which it lies, whose `part` says the group's index: it has nothing else there.
  std::vector<flow_member*> led;
  std::vector<std::size_t> unordered(2 * tasks);  // of each task: accesses that wait for no writer
  const auto index_of = [](const flow_member& leader) {
    return reinterpret_cast<std::uintptr_t>(leader.part);
  };
  for (std::size_t i = 0; i < 2 * tasks; ++i) {
    auto accesses = made[i % tasks].accesses;
    bool reduces = false;
    for (auto& each : accesses) {
      each.weak = false;
      if (in_turns && each.mode == access_mode::reduction) {
        each.mode = access_mode::concurrent;
        reduces = true;
      } else if (each.mode != access_mode::in && each.mode != access_mode::concurrent) {
        each.mode = access_mode::write;
      }
    }
    flow_task& task = *placed.emplace_back(&flow.make_unrun(by, domain, accesses), forget);
    task.number = static_cast<std::uint32_t>(i);
    std::size_t members = 0;
    task.each_member([&](flow_member& each) {
      ++members;
      if (each.mode == access_mode::in) ++unordered[i];
      if (each.leads) {
        each.part = reinterpret_cast<void*>(led.size());
        led.push_back(&each);
        groups.emplace_back();
      }
      auto& of = groups[index_of(*each.leader)];
      if (i < tasks) of.members.push_back(i);
      // The turns of a row end with its iteration.
      if (i >= tasks && in_turns && each.mode == access_mode::concurrent) of.followers.push_back(i);
    });
    splits_reduction = splits_reduction || (reduces && members != accesses.size());
  }
  for (auto* const leader : led)
    for (const auto* each = leader->waiting.release(); each != nullptr; each = each->next) {
      if (each->kind == waiter_kind::group) {
        groups[index_of(*each->member)].earlier.push_back(index_of(*leader));
      } else {
        const auto follower = each->member->task->number;
        groups[index_of(*leader)].followers.push_back(follower);
        if (each->member->mode == access_mode::in) --unordered[follower];
      }
    }
  // A group of the second time that waits for none of the first time ends as its like did. A group comes
  // after those that it waits for.
  for (auto& each : groups)
    std::erase_if(each.earlier, [this](std::size_t earlier) {
      return groups[earlier].members.empty() && groups[earlier].earlier.empty();
    });
  // A reader of what no task here writes. Its like waited for the writer before the first iteration, and the
  // writer after the last one waits for its like. In a replay both are of one list.
  for (std::size_t i = tasks; in_turns && i < 2 * tasks; ++i)
    if (unordered[i] != 0) groups.push_back({{i - tasks}, {}, {i}});
}

std::vector<std::size_t> recorded_waits::ranks(std::vector<std::uint64_t> begun) const {
  const auto nodes = tasks + groups.size();  // the tasks, and the ends of the groups
  begun.resize(nodes);                       // an end comes at once
  std::vector<std::vector<std::size_t>> followers(nodes);
  std::vector<std::size_t> missing(nodes);
  const auto wait = [&](std::size_t from, std::size_t to) {
    followers[from].push_back(to);
    ++missing[to];
  };
  for (std::size_t end = tasks; end < nodes; ++end) {
    const group& of = groups[end - tasks];
    for (const auto member : of.members) wait(member, end);
    for (const auto earlier : of.earlier) wait(tasks + earlier, end);
    for (const auto follower : of.followers)
      if (follower < tasks) wait(end, follower);
  }
  const auto later = [&](std::size_t a, std::size_t b) { return begun[a] > begun[b]; };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t i = 0; i < nodes; ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<std::size_t> ranks(nodes);
  for (std::size_t rank = 0; !ready.empty(); ++rank) {
    const auto next = ready.top();
    ready.pop();
    ranks[next] = rank;
    for (const auto each : followers[next])
      if (--missing[each] == 0) ready.push(each);
  }
  return ranks;
}

std::vector<replay_edge> recorded_waits::edges(const std::vector<std::vector<replay_task>>& places) const {
  std::vector<replay_edge> all;
  std::vector<std::vector<replay_task>> last(groups.size());  // members of each list
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const auto earlier : groups[i].earlier) append(last[i], last[earlier]);
    for (const auto member : groups[i].members) append(last[i], places[member]);
    keep_one_of_each_list(last[i], true);
    for (const bool next : {false, true}) {
      std::vector<replay_task> first;
      for (const auto follower : groups[i].followers)
        if ((follower >= tasks) == next) append(first, places[follower % tasks]);
      keep_one_of_each_list(first, false);
      for (const auto& from : last[i])
        for (const auto& to : first) all.push_back({from, to, next});
    }
  }
  return all;
}

// ---- The recording ----

flow_recording::flow_recording(std::shared_ptr<flow_core> of)
    : flow_(std::move(of)), logs_(flow_->workers()) {
  if (flow_->recorded != nullptr)
    throw misuse("teff::flow::record: called while the flow is recorded: call it when that has returned");
  flow_->recorded = &made_;
  for (unsigned i = 0; i < logs_.size(); ++i) flow_->state(i).log = &logs_[i];
  records_ = true;
}

flow_recording::~flow_recording() {
  if (records_) finish(true);
  const auto by = flow_->creator_outside();
  for (const auto& each : made_) {
    each.task->body->destroy(*each.task);
    flow_core::drop_reference(*each.task, by.pool);
  }
}

void flow_recording::finish(bool failed) {
  records_ = false;
  flow_->recorded = nullptr;
  for (unsigned i = 0; i < logs_.size(); ++i) flow_->state(i).log = nullptr;
  if (failed) return;

  const auto size = made_.size();
  const recorded_waits waits(*flow_, made_);
  const auto rank = waits.ranks(begun());
  std::vector<std::uint32_t> counts;
  std::vector<std::vector<replay_task>> places(size);
  for (std::uint32_t worker = 0; worker < logs_.size(); ++worker) {
    std::vector<std::size_t> own;
    for (const auto& each : logs_[worker])
      if (shared_loop_of(*made_[each.task - 1].task) == nullptr) own.push_back(each.task - 1);
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

std::vector<std::uint64_t> flow_recording::begun() const {
  std::vector<std::uint64_t> all(made_.size());
  std::size_t ran = 0;
  for (const auto& log : logs_)
    for (const auto& each : log) {
      if (each.task == 0)
        throw not_replayable(
            "teff::flow::record: a task made tasks in its body, which a replay does not repeat: "
            "make them outside, or run this part without a recording");
      all[each.task - 1] = each.begun;
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
  core_->replay(std::cref(run_any));
}

void flow_recording::run_part(std::size_t part, std::uint64_t times) {
  const auto outer = std::exchange(flow_core::replayed, flow_.get());
  const auto step = [&](std::size_t list, std::size_t index, std::uint64_t) {
    flow_task& task = *lists_[list][index];
    if (shared_loop_of(task) != nullptr)
      return flow_core::replay_loop(core_->parts()[list].worker, task, [this] { return core_->failed(); });
    task.body->run(task);
    combine_all(task);
  };
  undo_if_thrown([&] { run_replay_part(*core_, part, times, step); }, [&] { flow_core::replayed = outer; });
  flow_core::replayed = outer;
}

}  // namespace teff::detail
