// Finds out when a job of many ranks has nothing left to do: two counts, summed over a tree
// (src/message/completion.md).
#pragma once

#include <teff/detail/message/rank_tree.hpp>

#include <cstdint>
#include <optional>

namespace teff::detail {

// The counts of one rank in an epoch, or their sums over a part of the tree in a wave.
struct completion_counts {
  std::uint64_t sent = 0;     // messages, gathered ones too
  std::uint64_t handled = 0;  // messages whose handlers have ended
  std::uint64_t left = 0;  // things that wait for messages which have not come, such as keys of a task graph

  completion_counts& operator+=(const completion_counts& other) noexcept {
    sent += other.sent;
    handled += other.handled;
    left += other.left;
    return *this;
  }
  bool operator==(const completion_counts&) const = default;
};

// The waves of an epoch, as one rank sees them. The communicator reports each event and gets the action to
// take. Sends nothing itself. Not thread-safe.
class completion {
 public:
  enum class action : std::uint8_t {
    report,  // send the sums of this part of the tree to the parent
    ask,     // ask the children for their counts again
    end,     // end the epoch, and tell the children
  };

  completion(int rank, int ranks) noexcept : tree_(rank, ranks) {}
  [[nodiscard]] const rank_tree& tree() const noexcept { return tree_; }

  // An epoch begins, and its first wave with it.
  void begin() noexcept {
    wave_ = 0;
    last_.reset();
    asked();
  }
  void reported(const completion_counts& part) noexcept {
    ++parts_;
    sums_ += part;
  }
  // Whether this wave lacks only this rank's own counts.
  [[nodiscard]] bool awaits_own() const noexcept { return !own_given_ && parts_ == tree_.children(); }
  // This rank is passive, with these counts. To be called only while awaits_own(). The root's action is `ask`
  // or `end`, any other rank's is `report`.
  [[nodiscard]] action passive(const completion_counts& own) noexcept {
    own_given_ = true;
    sums_ += own;
    if (!tree_.is_root()) return action::report;
    // completion.md proves that nothing is left then.
    if (last_ && last_->handled == sums_.sent) return action::end;
    last_ = sums_;
    asked();
    return action::ask;
  }
  // The parent asks: a new wave begins, and the caller asks the children.
  void asked() noexcept {
    ++wave_;
    parts_ = 0;
    own_given_ = false;
    sums_ = {};
  }
  // The sums of this wave so far, which a report contains.
  [[nodiscard]] const completion_counts& sums() const noexcept { return sums_; }
  [[nodiscard]] std::uint64_t wave() const noexcept { return wave_; }
  // Whether passive() was called in this wave, which then lacks only the parent's answer.
  [[nodiscard]] bool own_given() const noexcept { return own_given_; }

 private:
  rank_tree tree_;
  std::uint64_t wave_ = 0;
  int parts_ = 0;  // children that have reported in this wave
  bool own_given_ = false;
  completion_counts sums_;
  std::optional<completion_counts> last_;  // the root's only: sums of the wave before
};

}  // namespace teff::detail
