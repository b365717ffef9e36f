#include "flow/flow_memo.hpp"

#include "flow/flow_memory.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <new>
#include <tuple>
#include <utility>

namespace teff::detail {

namespace {

constexpr std::size_t line = 64;

std::size_t in_lines(std::size_t bytes) noexcept {
  return (bytes + line - 1) / line * line;
}

}  // namespace

flow_memo::flow_memo(flow_core& flow, std::vector<flow_record> period) {
  recorded_waits waits(flow, period, true);
  waits.drop_implied();
  is_whole_ = !waits.splits_reduction;
  tasks.resize(period.size());
  for (std::size_t i = 0; i < period.size(); ++i) tasks[i].of = std::move(period[i]);
  find_rows();
  connect(waits);
  place();
  oldest_ = current = fresh(nullptr);
  current->is_first = true;
  current->next = fresh(oldest_);
}

flow_memo::~flow_memo() {
  while (oldest_ != nullptr) free(std::exchange(oldest_, oldest_->next));
}

// Reductions of the same memory by the same operation.
void flow_memo::find_rows() {
  std::map<std::tuple<const std::byte*, std::size_t, const void*>, std::uint32_t> found;
  for (auto& task : tasks)
    for (const auto& each : task.of.accesses)
      if (each.mode == access_mode::reduction)
        task.rows.push_back(found
                                .try_emplace({each.first, each.bytes, each.operation},
                                             static_cast<std::uint32_t>(found.size()))
                                .first->second);
  rows.resize(found.size());
}

// A group of several members with several followers is a join, and so is one that another group waits for.
void flow_memo::connect(const recorded_waits& waits) {
  const auto follow = [&](memo_node& from, std::size_t task) {
    from.followers.push_back({task >= tasks.size(), static_cast<std::uint32_t>(task % tasks.size()), 0});
  };
  std::vector<std::uint32_t> join_of(waits.groups.size());  // its number from 1 on; 0: it is none
  for (std::size_t i = 0; i < waits.groups.size(); ++i) {
    const auto& [members, earlier, followers] = waits.groups[i];
    if (!earlier.empty() || std::min(members.size(), followers.size()) > 1) join_of[i] = 1;
    for (const auto each : earlier) join_of[each] = 1;
  }
  for (auto& each : join_of) {
    if (each == 0) continue;
    joins.emplace_back();
    each = static_cast<std::uint32_t>(joins.size());
  }
  for (std::size_t i = 0; i < waits.groups.size(); ++i) {
    const auto& group = waits.groups[i];
    if (join_of[i] == 0) {
      for (const auto member : group.members)
        for (const auto each : group.followers) follow(tasks[member], each);
      continue;
    }
    for (const auto member : group.members) tasks[member].followers.push_back({false, 0, join_of[i]});
    for (const auto earlier : group.earlier)
      joins[join_of[earlier] - 1].followers.push_back({false, 0, join_of[i]});
    for (const auto each : group.followers) follow(joins[join_of[i] - 1], each);
  }
}

// Lays out a round, and counts the waits of each task and join.
void flow_memo::place() {
  std::size_t at = sizeof(memo_round);
  for (auto& each : tasks) {
    each.at = static_cast<std::uint32_t>(at);
    each.closure = in_lines(sizeof(repeated_task) + each.rows.size() * sizeof(flow_member));
    at += each.closure + in_lines(each.of.bytes);
  }
  for (auto& each : joins) {
    each.at = static_cast<std::uint32_t>(at);
    at += line;
  }
  bytes_ = at;
  const auto finish = [&](memo_node& from) {
    std::ranges::sort(from.followers, std::greater());
    from.followers.erase(std::ranges::unique(from.followers).begin(), from.followers.end());
    for (auto& each : from.followers) {
      memo_node& to = each.join == 0 ? tasks[each.at] : joins[each.join - 1];
      ++to.waits;
      each.at = to.at;
    }
  };
  for (auto& each : tasks) finish(each);
  for (auto& each : joins) finish(each);
}

// ---- Rounds ----

bool flow_memo::has_ended(memo_round& round, std::size_t made) const noexcept {
  // Acquire: pairs with the release of the thread that ended the task.
  if (round.is_first) return round.in_table.load(std::memory_order_acquire) == 0;
  for (std::size_t i = 0; i < made; ++i)
    if (round.task(tasks[i].at).references.load(std::memory_order_acquire) != 0) return false;
  return true;
}

bool flow_memo::has_ended() const noexcept {
  for (auto* each = oldest_; each != current; each = each->next)
    if (!has_ended(*each, tasks.size())) return false;
  return has_ended(*current, position);
}

void flow_memo::begin_round() {
  memo_round* const next = current->next;
  memo_round* const made = fresh(next);
  previous = oldest_ == next ? nullptr : current;  // the round that is over may be the fresh one
  next->next = made;
  current = next;
  position = 0;
  std::ranges::fill(rows, nullptr);
}

// The oldest round before that one, if all its tasks have ended, or new memory.
memo_round* flow_memo::fresh(const memo_round* keep_from) {
  void* memory = nullptr;
  while (memory == nullptr && oldest_ != keep_from && has_ended(*oldest_, tasks.size())) {
    memo_round* const ended = std::exchange(oldest_, oldest_->next);
    ended->is_first ? free(ended) : void(memory = ended);  // the first one has no tasks
  }
  if (memory == nullptr) memory = ::operator new(bytes_, std::align_val_t{line});
  auto* const round = ::new (memory) memo_round{.of = this};
  for (std::uint32_t i = 0; i < tasks.size(); ++i) {
    auto* const task = ::new (&round->task(tasks[i].at)) repeated_task;
    task->priority = 0;
    task->count = 0;
    task->room = static_cast<std::uint32_t>(tasks[i].rows.size());
    task->place = any_worker;
    task->block = flow_pool::in_memo;
    task->references.store(1, std::memory_order_relaxed);
    task->parent = nullptr;
    task->closure = reinterpret_cast<std::byte*>(task) + tasks[i].closure;
    task->round = round;
    task->number = i;
    std::construct_at(&task->missing, tasks[i].waits + 1);  // and for the task to be made
  }
  for (const auto& each : joins) ::new (&round->join(each.at)) open_count<>(each.waits);
  return round;
}

void flow_memo::free(memo_round* round) noexcept {
  ::operator delete(round, std::align_val_t{line});
}

}  // namespace teff::detail
