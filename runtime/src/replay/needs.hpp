// Which waits between the workers of a replay are left when the plan drops those that others ensure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace teff::detail {

// Task `index` of `waiter` waits for the task of `other` at `position`. The position is counted from the
// first task of the waiting iteration, so that positions in earlier iterations are negative.
template <class Other>
struct replay_need {
  std::uint32_t waiter;
  std::uint32_t index;
  Other other;
  std::int64_t position;
};

// Drops each need whose waiter has waited before for the same or a later task of the same other worker, in
// this iteration or the one before. Sorts the others by waiter and index. `need_of(each)`: the replay_need;
// `tasks_of(other)`: how many tasks that worker has in an iteration.
template <class Need, class NeedOf, class TasksOf>
void drop_known(std::vector<Need>& needs, NeedOf need_of, TasksOf tasks_of) {
  // The latest task of a worker before its earlier tasks.
  std::ranges::sort(needs, {}, [&](const Need& each) {
    const auto need = need_of(each);
    return std::tuple(need.waiter, need.index, need.other, -need.position);
  });
  using pair = std::pair<std::uint32_t, decltype(need_of(needs.front()).other)>;
  std::map<pair, std::int64_t> known;
  for (const Need& each : needs) {
    const auto need = need_of(each);
    const auto [at, added] = known.try_emplace({need.waiter, need.other}, need.position);
    if (!added) at->second = std::max(at->second, need.position);
  }
  // The position that the waiter has waited for in the iteration before, as this iteration counts. Before the
  // first iteration no task has waited; a need that is dropped then lies before the first iteration, too.
  for (auto& [workers, position] : known) position -= tasks_of(workers.second);
  std::erase_if(needs, [&](const Need& each) {
    const auto need = need_of(each);
    auto& knows = known.at({need.waiter, need.other});
    if (need.position <= knows) return true;
    knows = need.position;
    return false;
  });
}

}  // namespace teff::detail
