#include <teff/detail/replay_plan.hpp>

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace teff::detail {

namespace {

// A task of one worker waits for one of another, which is counted from the first of the iteration: those of
// the iteration before are negative.
struct need {
  std::uint32_t waiter;
  std::uint32_t waiting;
  std::uint32_t worker;
  std::int64_t position;
};

std::vector<need> all_needs(const std::vector<std::uint32_t>& tasks, std::span<const replay_edge> edges,
                            bool overlap) {
  std::vector<need> needs;
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
  // By waiter, in its order; the latest task of a worker before its earlier ones.
  std::ranges::sort(needs, {}, [](const need& each) {
    return std::tuple(each.waiter, each.waiting, each.worker, -each.position);
  });
  return needs;
}

// Drops what the waiter knows when it gets there, from what it waited for before, in the iteration before,
// too.
void reduce(std::vector<need>& needs, const std::vector<std::uint32_t>& tasks) {
  const std::size_t workers = tasks.size();
  constexpr std::int64_t nothing = INT64_MIN;
  std::vector<std::int64_t> known(workers * workers, nothing);
  const auto knows = [&](const need& each) -> std::int64_t& {
    return known[each.waiter * workers + each.worker];
  };
  for (const need& each : needs) knows(each) = std::max(knows(each), each.position);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] != nothing) known[i] -= tasks[i % workers];
  }
  std::erase_if(needs, [&](const need& each) {
    if (each.position <= knows(each)) return true;
    knows(each) = each.position;
    return false;
  });
}

// A task raises the flag that `reader` looks at.
struct raise {
  std::uint32_t worker;
  std::uint32_t index;
  std::uint32_t reader;

  friend auto operator<=>(const raise&, const raise&) = default;
};

}  // namespace

replay_plan::replay_plan(const std::vector<std::uint32_t>& tasks, std::span<const replay_edge> edges,
                         bool overlap) {
  auto needs = all_needs(tasks, edges, overlap);
  reduce(needs, tasks);

  const auto raise_for = [&](const need& each) -> raise {
    const auto index = each.position < 0 ? each.position + tasks[each.worker] : each.position;
    return {each.worker, static_cast<std::uint32_t>(index), each.waiter};
  };
  std::set<raise> raises;
  for (const need& each : needs) raises.insert(raise_for(each));
  // The first, second ... raise of its flag.
  std::map<raise, std::int64_t> ranks;
  std::map<std::pair<std::uint32_t, std::uint32_t>, counted_flag*> flags;
  for (const raise& each : raises) {
    counted_flag*& flag = flags[{each.worker, each.reader}];
    if (flag == nullptr) flag = &flags_.emplace_back();
    ranks[each] = static_cast<std::int64_t>(++flag->raises);
  }

  auto need = needs.begin();
  auto raise = raises.begin();
  for (std::uint32_t worker = 0; worker < tasks.size(); ++worker) {
    if (tasks[worker] == 0) continue;
    auto& part = parts_.emplace_back(replay_part{worker, {}, {}, {}});
    for (std::uint32_t index = 0; index < tasks[worker]; ++index) {
      for (; need != needs.end() && need->waiter == worker && need->waiting == index; ++need) {
        const auto* const found = flags[{need->worker, worker}];
        const auto rank = ranks[raise_for(*need)];
        const auto before = need->position < 0 ? static_cast<std::int64_t>(found->raises) : 0;
        part.waits.push_back({&found->flag, found->raises, rank - before});
      }
      for (; raise != raises.end() && raise->worker == worker && raise->index == index; ++raise)
        part.signals.push_back({&flags[{worker, raise->reader}]->flag, raise->reader});
      part.tasks.push_back(
          {static_cast<std::uint32_t>(part.waits.size()), static_cast<std::uint32_t>(part.signals.size())});
    }
  }
  set_ended(0);
}

void replay_plan::set_ended(std::uint64_t iterations) noexcept {
  for (auto& [flag, raises] : flags_) flag.set(raises * (iterations + 1));
}

}  // namespace teff::detail
