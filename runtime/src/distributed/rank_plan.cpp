#include <teff/detail/distributed/rank_plan.hpp>

#include <algorithm>
#include <bit>
#include <tuple>

namespace teff::detail {

std::uint32_t outputs_kept(std::size_t bytes, std::uint32_t most_before) noexcept {
  // Twice as many small outputs: a worker that overwrites one then waits for a reader that is long done.
  constexpr std::size_t small = 1024;
  const auto least = std::bit_ceil(most_before + 1);
  return bytes <= small ? 2 * least : least;
}

std::vector<rank_need> reduced(std::vector<rank_need> needs,
                               const std::map<rank_worker, std::uint32_t>& tasks) {
  // Counted from the first task of the waiting iteration: positions in earlier iterations are negative.
  const auto position = [&](const rank_need& each) {
    return std::int64_t{each.on.index} - each.before * std::int64_t{tasks.at(each.on.on)};
  };
  // By waiter, in its order; the latest task of a worker before its earlier ones.
  std::ranges::sort(needs, {}, [&](const rank_need& each) {
    return std::tuple(each.worker, each.index, each.on.on, -position(each));
  });
  using waiter_and_other = std::pair<std::uint32_t, rank_worker>;
  std::map<waiter_and_other, std::int64_t> known;
  for (const auto& each : needs) {
    const auto [at, added] = known.try_emplace({each.worker, each.on.on}, position(each));
    if (!added) at->second = std::max(at->second, position(each));
  }
  // The position that it has waited for in the iteration before, as this iteration counts. Before the first
  // iteration no task has waited; a need that is dropped then lies before the first iteration, too.
  for (auto& [who, at] : known) at -= tasks.at(who.second);
  std::erase_if(needs, [&](const rank_need& each) {
    auto& knows = known.at({each.worker, each.on.on});
    if (position(each) <= knows) return true;
    knows = position(each);
    return false;
  });
  return needs;
}

}  // namespace teff::detail
