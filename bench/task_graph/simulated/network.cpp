#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace teff::simulated {

network::network(const machine& on, int ranks, std::uint64_t seed)
    : levels_(on.levels),
      is_shared_(
          std::ranges::any_of(levels_, [](const level& each) { return each.gap + each.shared_byte > 0; })),
      late_(on.late),
      random_(~seed) {
  for (const level& each : levels_) {
    const std::int64_t ranks_of_one = &each == &levels_.back() ? ranks : each.nodes * on.cores;
    std::vector<std::int32_t>& own = units_.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) own.push_back(static_cast<std::int32_t>(rank / ranks_of_one));
    free_.emplace_back(static_cast<std::size_t>(own.back()) + 1);
  }
  draw_late();
}

void network::draw_late() {
  until_late_ = late_.share > 0 ? 1 + std::floor(random_.exponential(-1 / std::log1p(-late_.share)))
                                : std::numeric_limits<double>::infinity();
}

void network::arrivals(std::vector<message>& all, std::int64_t bytes, std::vector<double>& arrived) {
  std::ranges::sort(all, {}, &message::sent);
  for (std::vector<double>& each : free_) std::ranges::fill(each, 0.0);
  for (message one : all) {
    const std::size_t common = level_of(one.from, one.to);
    for (std::size_t below = 0; below < common; ++below) {
      double& free = free_[below][static_cast<std::size_t>(unit(below, one.from))];
      one.sent = std::max(one.sent, free);
      free = one.sent + std::max(levels_[below].gap, static_cast<double>(bytes) * levels_[below].shared_byte);
    }
    arrived[one.input] = arrival(one, bytes);
  }
}

}  // namespace teff::simulated
