// The ranges of memory that sibling tasks have named, and the last accesses to each.
#pragma once

#include <teff/detail/flow/flow_task.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace teff::detail {

// A range of which no task has named a part only. Each task touches all of it or nothing.
struct flow_range {
  std::uintptr_t begin;
  std::uintptr_t end;
  flow_member* last = nullptr;    // the leader of the last group
  flow_member* before = nullptr;  // of the group that the members of the last one wait for; null: for none
  std::uint32_t joined = 0;       // members of the last group, and links to it
  access_mode mode = access_mode::in;
  bool open = false;  // the last group takes members
  const void* operation = nullptr;
  flow_member* newest = nullptr;  // of a reduction: its last member
  flow_member* bounds[2]{};       // and its last two that bound how many are ahead of their turns
  weak_part* weak = nullptr;      // the weak access of the parent that it is a part of
};

// Only the creator touches it: the thread that makes the tasks of the domain.
class flow_domain {
 public:
  // The range, if it is one. Null: it is none, or several, or a part of one.
  [[nodiscard]] flow_range* exact(std::uintptr_t begin, std::uintptr_t end) noexcept {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = slot_of(begin);; at = (at + 1) & (slots_.size() - 1)) {
      flow_range* const found = slots_[at].range;
      if (found == nullptr) return nullptr;
      if (slots_[at].begin == begin) return found->end == end ? found : nullptr;
    }
  }
  // Puts the ranges that together are [begin, end) into `to`. It may cut a range in two, and then calls
  // split(left, right) for the copies. Throws std::bad_alloc.
  template <class Split>
  void cover(std::uintptr_t begin, std::uintptr_t end, std::vector<flow_range*>& to, Split split);
  // A range that overlaps no other. Throws std::bad_alloc.
  flow_range& insert(std::uintptr_t begin, std::uintptr_t end);

  template <class Visit>
  void each(Visit visit) {
    for (auto& [begin, range] : ordered_) visit(range);
  }
  // Forgets the ranges of which idle(range) is true.
  template <class Idle>
  void sweep(Idle idle) {
    for (auto each = ordered_.begin(); each != ordered_.end();)
      each = idle(each->second) ? ordered_.erase(each) : std::next(each);
    fill_slots();
    sweep_at_ = 2 * ordered_.size() + first_sweep;
  }
  [[nodiscard]] bool is_crowded() const noexcept { return ordered_.size() >= sweep_at_; }

 private:
  struct slot {
    std::uintptr_t begin = 0;
    flow_range* range = nullptr;
  };
  [[nodiscard]] std::size_t slot_of(std::uintptr_t begin) const noexcept {
    return (begin * 0x9e3779b97f4a7c15U) >> shift_;
  }
  void fill_slots();
  void add_slot(flow_range& range) noexcept {
    std::size_t at = slot_of(range.begin);
    while (slots_[at].range != nullptr) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {range.begin, &range};
  }

  static constexpr std::size_t first_sweep = 4096;
  std::map<std::uintptr_t, flow_range> ordered_;
  std::vector<slot> slots_;  // by where the range begins; a power of two, at most half full
  unsigned shift_ = 0;
  std::size_t sweep_at_ = first_sweep;
};

template <class Split>
void flow_domain::cover(std::uintptr_t begin, std::uintptr_t end, std::vector<flow_range*>& to, Split split) {
  const auto cut = [&](flow_range& left, std::uintptr_t at) {
    flow_range& right = insert(at, left.end);
    const auto right_end = left.end;
    left.end = at;
    right = left;
    right.begin = at;
    right.end = right_end;
    split(left, right);
  };
  to.clear();
  if (auto after = ordered_.upper_bound(begin); after != ordered_.begin()) {
    flow_range& left = std::prev(after)->second;
    if (left.begin < begin && left.end > begin) cut(left, begin);
  }
  while (begin != end) {
    const auto next = ordered_.lower_bound(begin);
    if (next == ordered_.end() || next->first >= end) {
      to.push_back(&insert(begin, end));
      return;
    }
    if (next->first != begin) {
      const auto until = next->first;
      to.push_back(&insert(begin, until));
      begin = until;
    } else {
      if (next->second.end > end) cut(next->second, end);
      to.push_back(&next->second);
      begin = next->second.end;
    }
  }
}

}  // namespace teff::detail
