// When a job of many ranks has nothing left: two counts, summed over a tree (src/message/completion.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace teff::detail {

// What one rank has counted in an epoch, or a part of the tree in a wave.
struct completion_counts {
  std::uint64_t sent = 0;     // messages, whether they have left or not
  std::uint64_t handled = 0;  // messages whose handlers have ended
  std::uint64_t left = 0;     // what waits for messages that have not come, as keys of a task graph

  completion_counts& operator+=(const completion_counts& other) noexcept {
    sent += other.sent;
    handled += other.handled;
    left += other.left;
    return *this;
  }
  bool operator==(const completion_counts&) const = default;
};

// The ranks as a binary tree: 2 r + 1 and 2 r + 2 are below r, rank 0 is the root.
class rank_tree {
 public:
  rank_tree(int rank, int ranks) noexcept : rank_(rank), ranks_(ranks) {}
  [[nodiscard]] bool is_root() const noexcept { return rank_ == 0; }
  [[nodiscard]] int parent() const noexcept { return (rank_ - 1) / 2; }
  [[nodiscard]] int children() const noexcept {
    const std::int64_t first = 2 * std::int64_t{rank_} + 1;
    return first >= ranks_ ? 0 : first + 1 >= ranks_ ? 1 : 2;
  }
  template <class Use>
  void each_child(Use use) const {
    for (int i = 0; i < children(); ++i) use(2 * rank_ + 1 + i);
  }

 private:
  int rank_;
  int ranks_;
};

// What one rank knows of the waves of an epoch. It is told what happens and says what to do about it; it
// sends nothing itself. Not thread-safe.
class completion {
 public:
  enum class action : std::uint8_t {
    none,
    report,  // the counts of this part of the tree to the parent
    ask,     // the children for their counts again
    end,     // the epoch, and tell the children
  };

  completion(int rank, int ranks) noexcept : tree_(rank, ranks) {}
  [[nodiscard]] const rank_tree& tree() const noexcept { return tree_; }

  // A new epoch: its first wave has begun, unasked.
  void begin() noexcept;
  // A child has reported.
  void reported(const completion_counts& part) noexcept;
  // Whether all that is missing in this wave is that this rank is passive.
  [[nodiscard]] bool awaits_own() const noexcept { return !own_given_ && parts_ == tree_.children(); }
  // This rank is passive, with these counts, and awaits_own(). The root asks or ends; another rank reports.
  [[nodiscard]] action passive(const completion_counts& own) noexcept;
  // The parent asks: a new wave has begun. To be passed on to the children.
  void asked() noexcept;
  // Sums of this wave, so far: what a report says.
  [[nodiscard]] const completion_counts& sums() const noexcept { return sums_; }
  [[nodiscard]] std::uint64_t wave() const noexcept { return wave_; }
  // Whether passive() was called in this wave: all that is missing is an answer from above.
  [[nodiscard]] bool own_given() const noexcept { return own_given_; }

 private:
  void new_wave() noexcept;

  rank_tree tree_;
  std::uint64_t wave_ = 0;
  int parts_ = 0;  // children that have reported in this wave
  bool own_given_ = false;
  completion_counts sums_;
  std::optional<completion_counts> last_;  // the root's: of the wave before
};

}  // namespace teff::detail
