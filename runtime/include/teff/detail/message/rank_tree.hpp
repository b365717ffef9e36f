// The tree along which ranks add up counts, and along which collective messages go.
#pragma once

#include <bit>
#include <cstdint>
#include <string>

namespace teff::detail {

// A binomial tree of ranks. They are numbered from the root; a rank's parent has its number without the
// lowest bit that is set.
class rank_tree {
 public:
  rank_tree(int rank, int ranks, int root = 0) noexcept
      : ranks_(ranks), root_(root), number_((rank - root + ranks) % ranks) {}
  [[nodiscard]] bool is_root() const noexcept { return number_ == 0; }
  [[nodiscard]] int parent() const noexcept { return rank_of(number_ & (number_ - 1)); }
  // The child with the most ranks below it comes first.
  template <class Use>
  void each_child(Use use) const {
    std::int64_t bit = 1;
    while (bit < ranks_ && (number_ & bit) == 0) bit *= 2;
    while ((bit /= 2) != 0)
      if (number_ + bit < ranks_) use(rank_of(static_cast<int>(number_ + bit)));
  }
  [[nodiscard]] int children() const { return std::popcount(all_givers() & ~itself); }

  // A set of the ranks that give a value to this rank: a bit for itself, and for each child the bit by which
  // their numbers differ.
  using givers = std::uint32_t;
  static constexpr givers itself = givers{1} << 31;
  [[nodiscard]] givers child(int rank) const noexcept {
    return static_cast<givers>((rank - root_ + ranks_) % ranks_ - number_);
  }
  [[nodiscard]] givers all_givers() const {
    givers all = itself;
    each_child([&](int rank) { all |= child(rank); });
    return all;
  }
  // As "rank 1, rank 2 or ranks below it".
  [[nodiscard]] std::string words_of(givers some) const;

 private:
  [[nodiscard]] int rank_of(int number) const noexcept { return (number + root_) % ranks_; }
  int ranks_;
  int root_;
  int number_;
};

}  // namespace teff::detail
