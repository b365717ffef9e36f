// What a worker is in the middle of: turns in task graphs, parts of replays, and pieces of either that it
// stole (README, "Waiting within a graph").
#pragma once

#include <teff/detail/fork_join/join_task.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

namespace teff::detail {

// `of`: the graph, as a source, or the replay; null: nothing.
struct errand {
  const void* of = nullptr;
  bool replay = false;
};

// The errands of one worker, each with the worker's stack above those before it. Written by the worker; its
// thieves read what a slot is a piece of.
class errands {
 public:
  // `head`: where the worker's next push goes.
  void begin(errand what, const task_slot* head) noexcept {
    const auto at = depth_.load(std::memory_order_relaxed);
    if (at < most) {
      // Relaxed: a thief that stole a slot which was pushed after this sees it, as it sees the slot; one that
      // stole a slot of before does not mind which of several later ones it sees.
      entries_[at].of.store(what.of, std::memory_order_relaxed);
      entries_[at].replay.store(what.replay, std::memory_order_relaxed);
      entries_[at].head.store(head, std::memory_order_relaxed);
    }
    depth_.store(at + 1, std::memory_order_release);  // pairs with the acquire in of_slot()
  }
  void end() noexcept { depth_.store(depth_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed); }

  [[nodiscard]] bool any() const noexcept { return depth_.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool replaying() const noexcept {
    return any_of([](const entry& each) { return each.replay.load(std::memory_order_relaxed); });
  }
  template <class Visit>
  void each(Visit visit) const {
    static_cast<void>(any_of([&](const entry& each) {
      visit(each.of.load(std::memory_order_relaxed));
      return false;
    }));
  }

  // For a thief that has just stolen this slot of the worker's: what it is a piece of. That errand does not
  // end before the slot's task has; those above it began at heads above the slot.
  [[nodiscard]] errand of_slot(const task_slot* slot) const noexcept {
    errand found;
    const auto depth = std::min(depth_.load(std::memory_order_acquire), most);
    for (std::size_t i = 0; i < depth; ++i) {
      const auto& each = entries_[i];
      if (each.head.load(std::memory_order_relaxed) > slot) break;
      found = {each.of.load(std::memory_order_relaxed), each.replay.load(std::memory_order_relaxed)};
    }
    return found;
  }

 private:
  struct entry {
    std::atomic<const void*> of{nullptr};
    std::atomic<const task_slot*> head{nullptr};
    std::atomic<bool> replay{false};
  };
  // Of those deeper down a worker knows the number only.
  static constexpr std::size_t most = 64;

  template <class Holds>
  [[nodiscard]] bool any_of(Holds holds) const {
    const auto depth = std::min(depth_.load(std::memory_order_relaxed), most);
    return std::any_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(depth), holds);
  }

  std::array<entry, most> entries_;
  std::atomic<std::size_t> depth_{0};
};

}  // namespace teff::detail
