#include <teff/detail/replay/replay_plan.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>
#include <utility>

namespace teff::detail {

void drop_known(std::vector<replay_need>& needs, const std::function<std::int64_t(std::uint64_t)>& tasks_of) {
  // The latest task of a worker before its earlier tasks.
  std::ranges::sort(needs, {}, [](const auto& need) {
    return std::tuple(need.waiter, need.index, need.other, -need.position);
  });
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> known;
  for (const auto& need : needs) {
    const auto [at, added] = known.try_emplace({need.waiter, need.other}, need.position);
    if (!added) at->second = std::max(at->second, need.position);
  }
  // The position that the waiter has waited for in the iteration before, as this iteration counts. Before the
  // first iteration no task has waited; a need that is dropped then lies before the first iteration, too.
  for (auto& [workers, position] : known) position -= tasks_of(workers.second);
  std::erase_if(needs, [&](const auto& need) {
    auto& knows = known.at({need.waiter, need.other});
    if (need.position <= knows) return true;
    knows = need.position;
    return false;
  });
}

namespace {

// The needs that are left, by waiter and index.
std::vector<replay_need> needs_of(const std::vector<std::uint32_t>& tasks, std::span<const replay_edge> edges,
                                  bool overlap) {
  std::vector<replay_need> needs;
  for (const auto& [from, to, next] : edges) {
    if (from.worker == to.worker) continue;
    needs.push_back({to.worker, to.index, from.worker,
                     std::int64_t{from.index} - (next ? std::int64_t{tasks[from.worker]} : 0)});
  }
  if (!overlap) {
    for (std::uint32_t waiter = 0; waiter < tasks.size(); ++waiter) {
      for (std::uint32_t worker = 0; worker < tasks.size(); ++worker) {
        if (worker != waiter && tasks[worker] != 0 && tasks[waiter] != 0)
          needs.push_back({waiter, 0, worker, -1});
      }
    }
  }
  drop_known(needs, [&](std::uint64_t worker) { return std::int64_t{tasks[worker]}; });
  return needs;
}

// `reader` waits for a task.
struct raise {
  std::uint32_t worker;
  std::uint32_t index;
  std::uint32_t reader;

  [[nodiscard]] bool same_task(const raise& other) const {
    return worker == other.worker && index == other.index;
  }
  friend auto operator<=>(const raise&, const raise&) = default;
};

// Which flag is raised then, and that this is its first, second ... raise in an iteration.
struct raised {
  std::size_t flag;
  std::int64_t rank;
};

}  // namespace

replay_plan::replay_plan(const std::vector<std::uint32_t>& tasks, std::span<const replay_edge> edges,
                         bool overlap, const replay_flags& given) {
  const auto needs = needs_of(tasks, edges, overlap);

  const auto raise_for = [&](const replay_need& each) -> raise {
    const auto index = each.position < 0 ? each.position + tasks[each.other] : each.position;
    return {static_cast<std::uint32_t>(each.other), static_cast<std::uint32_t>(index), each.waiter};
  };
  std::map<raise, raised> raises;
  for (const replay_need& each : needs) raises[raise_for(each)];

  // Where the application gives none, there is one for each pair of workers.
  using flag_key = std::tuple<replay_flag<>*, std::uint32_t, std::uint32_t>;
  std::map<flag_key, std::size_t> flags;
  const raise* before = nullptr;
  for (auto& [each, found] : raises) {
    replay_flag<>* const flag = given.empty() ? nullptr : given[each.worker][each.index];
    const auto at = flag == nullptr ? flag_key(flag, each.worker, each.reader) : flag_key(flag, 0, 0);
    found.flag = flags.try_emplace(at, counted_.size()).first->second;
    if (found.flag == counted_.size())
      counted_.push_back({flag == nullptr ? &own_.emplace_back() : flag, each.worker, 0});
    auto& counted = counted_[found.flag];
    if (counted.worker != each.worker)
      throw not_replayable("teff::record: tasks of two workers have the same result_flag");
    // Every worker that waits for the same task looks at the same raise.
    const bool again = flag != nullptr && before != nullptr && before->same_task(each);
    found.rank = again ? counted.raises : ++counted.raises;
    before = &each;
  }

  std::vector<std::uint32_t> part_of;  // by worker
  for (std::uint32_t parts = 0; const auto each : tasks) {
    part_of.push_back(parts);
    parts += each != 0 ? 1 : 0;
  }
  auto need = needs.begin();
  auto raise = raises.begin();
  for (std::uint32_t worker = 0; worker < tasks.size(); ++worker) {
    if (tasks[worker] == 0) continue;
    auto& part = parts_.emplace_back(replay_part{worker, {}, {}, {}});
    for (std::uint32_t index = 0; index < tasks[worker]; ++index) {
      for (; need != needs.end() && need->waiter == worker && need->index == index; ++need) {
        const auto [flag, rank] = raises[raise_for(*need)];
        const auto& counted = counted_[flag];
        part.waits.push_back({counted.flag, static_cast<std::uint32_t>(counted.raises),
                              part_of[counted.worker], rank - (need->position < 0 ? counted.raises : 0)});
      }
      const replay_flag<>* raised_before = nullptr;
      for (; raise != raises.end() && raise->first.worker == worker && raise->first.index == index; ++raise) {
        replay_flag<>* const flag = counted_[raise->second.flag].flag;
        part.signals_sent.push_back({flag == raised_before ? nullptr : flag, raise->first.reader});
        raised_before = flag;
      }
      part.tasks.push_back({static_cast<std::uint32_t>(part.waits.size()),
                            static_cast<std::uint32_t>(part.signals_sent.size())});
    }
  }
}

void replay_plan::reset() noexcept {
  for (const auto& each : counted_) each.flag->set(static_cast<std::uint64_t>(each.raises));
}

}  // namespace teff::detail
