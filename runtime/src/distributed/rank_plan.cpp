#include <teff/detail/distributed/rank_plan.hpp>

#include "replay/needs.hpp"

#include <bit>

namespace teff::detail {

std::uint32_t outputs_kept(std::size_t bytes, std::uint32_t most_before) noexcept {
  // Twice as many small outputs: a worker that overwrites one then waits for a reader that is long done.
  constexpr std::size_t small = 1024;
  const auto least = std::bit_ceil(most_before + 1);
  return bytes <= small ? 2 * least : least;
}

std::vector<rank_need> reduced(std::vector<rank_need> needs,
                               const std::map<rank_worker, std::uint32_t>& tasks) {
  const auto tasks_of = [&](const rank_worker& on) { return std::int64_t{tasks.at(on)}; };
  drop_known(
      needs,
      [&](const rank_need& each) {
        return replay_need<rank_worker>{each.worker, each.index, each.on.on,
                                        each.on.index - each.before * tasks_of(each.on.on)};
      },
      tasks_of);
  return needs;
}

}  // namespace teff::detail
