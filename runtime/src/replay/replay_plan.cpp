#include <teff/detail/replay/replay_plan.hpp>
#include <teff/error.hpp>

#include <algorithm>
#include <compare>
#include <map>
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
  auto needs = all_needs(tasks, edges, overlap);
  reduce(needs, tasks);

  const auto raise_for = [&](const need& each) -> raise {
    const auto index = each.position < 0 ? each.position + tasks[each.worker] : each.position;
    return {each.worker, static_cast<std::uint32_t>(index), each.waiter};
  };
  std::map<raise, raised> raises;
  for (const need& each : needs) raises[raise_for(each)];

  // Where the application gives none, there is one for each pair of workers.
  using place = std::tuple<replay_flag<>*, std::uint32_t, std::uint32_t>;
  std::map<place, std::size_t> flags;
  const raise* before = nullptr;
  for (auto& [each, found] : raises) {
    replay_flag<>* const flag = given.empty() ? nullptr : given[each.worker][each.index];
    const auto at = flag == nullptr ? place(flag, each.worker, each.reader) : place(flag, 0, 0);
    found.flag = flags.try_emplace(at, counted_.size()).first->second;
    if (found.flag == counted_.size())
      counted_.push_back({flag == nullptr ? &own_.emplace_back() : flag, each.worker, 0});
    auto& counted = counted_[found.flag];
    if (counted.worker != each.worker)
      throw not_replayable("teff::record: tasks of two workers have the same result_flag");
    // Who else waits for the same task looks at the same raise.
    const bool again = flag != nullptr && before != nullptr && before->same_task(each);
    found.rank = again ? counted.raises : ++counted.raises;
    before = &each;
  }

  auto need = needs.begin();
  auto raise = raises.begin();
  for (std::uint32_t worker = 0; worker < tasks.size(); ++worker) {
    if (tasks[worker] == 0) continue;
    auto& part = parts_.emplace_back(replay_part{worker, {}, {}, {}});
    for (std::uint32_t index = 0; index < tasks[worker]; ++index) {
      for (; need != needs.end() && need->waiter == worker && need->waiting == index; ++need) {
        const auto [flag, rank] = raises[raise_for(*need)];
        const auto& counted = counted_[flag];
        part.waits.push_back({counted.flag, static_cast<std::uint64_t>(counted.raises),
                              rank - (need->position < 0 ? counted.raises : 0)});
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
