#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace teff::graphs {

/// Which workers belong to which rank: as mpi_adapter deals them out.
class team {
 public:
  team(int rank, int ranks, int workers) : rank_(rank) {
    for (int each = 0; each < ranks; ++each)
      rank_of_.resize(static_cast<std::size_t>((each + 1) * workers / ranks), each);
    first_ = static_cast<unsigned>(std::ranges::find(rank_of_, rank) - rank_of_.begin());
  }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int workers() const { return static_cast<int>(rank_of_.size()); }
  [[nodiscard]] int rank_of(unsigned worker) const { return rank_of_[worker]; }
  [[nodiscard]] bool is_here(unsigned worker) const { return rank_of(worker) == rank_; }
  /// A worker's index among this rank's workers.
  [[nodiscard]] unsigned here(unsigned worker) const { return worker - first_; }

 private:
  int rank_;
  unsigned first_ = 0;
  std::vector<int> rank_of_;
};

}  // namespace teff::graphs
