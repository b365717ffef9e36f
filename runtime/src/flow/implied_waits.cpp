// The transitive reduction of a program's waits (Aho, Garey and Ullman, SIAM Journal on Computing 1, 1972).
// For each task, the reduction looks at the last tasks before it.
#include "flow/flow_recording.hpp"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace teff::detail {

namespace {

// Bit i stands for the task that was made i tasks before another one. Earlier tasks have no bit.
using tasks_before = std::bitset<1024>;

// When a group of one iteration ends. The bits count from its last member.
struct group_end {
  std::size_t last = 0;
  tasks_before members;
  tasks_before ended;    // these, and all tasks that had ended when one of them began
  bool is_whole = true;  // all members have a bit
};

class implied_waits {
 public:
  explicit implied_waits(const recorded_waits& waits)
      : waits_(waits), ends_at_(waits.tasks), known_(tasks_before().size()) {
    for (auto& each : ends_) each.resize(waits.groups.size());
    for (std::size_t i = 0; i < waits.groups.size(); ++i) {
      const auto& [members, earlier, followers] = waits.groups[i];
      auto& last = ends_[0][i].last;
      for (const auto each : members) last = std::max(last, each);
      for (const auto each : earlier) last = std::max(last, ends_[0][each].last);
      ends_[1][i].last = waits.tasks + last;
      ends_at_[last].push_back(i);
    }
  }

  // Erases from `groups`, for which the next task waits, each group whose wait others imply. `again`: the
  // next task waits for the ends of these groups in the next iteration.
  void add(const std::vector<std::size_t>& again, std::vector<std::size_t>& groups) {
    tasks_before known;  // from the task before on: those that have ended when this one begins
    const auto since = [this](const group_end& end) { return task_ - end.last - 1; };
    for (const auto each : again) known |= ends_[1][each].ended << since(ends_[1][each]);
    // The latest group first: its end may imply the ends of earlier groups.
    std::ranges::sort(groups, std::greater(), [this](std::size_t each) { return ends_[0][each].last; });
    std::erase_if(groups, [&](std::size_t each) {
      const group_end& end = ends_[0][each];
      if (end.is_whole && (end.members & ~(known >> since(end))).none()) return true;
      known |= end.ended << since(end);
      return false;
    });
    known_[task_ % known_.size()] = known;
    const bool next = task_ >= waits_.tasks;
    for (const auto each : ends_at_[task_ - (next ? waits_.tasks : 0)]) find(each, next);
    ++task_;
  }

 private:
  // Its last member is the task that was just added, and the groups that end before it were found.
  void find(std::size_t group, bool next) {
    auto& ends = ends_[next ? 1 : 0];
    group_end& end = ends[group];
    for (const auto each : waits_.groups[group].members) {
      const auto task = each + (next ? waits_.tasks : 0);
      const auto at = task_ - task;
      if (at >= end.members.size()) {
        end.is_whole = false;
        continue;
      }
      end.members.set(at);
      end.ended.set(at);
      end.ended |= known_[task % known_.size()] << (at + 1);
    }
    for (const auto each : waits_.groups[group].earlier) {
      const auto at = task_ - ends[each].last;
      const tasks_before members = ends[each].members << at;
      end.is_whole = end.is_whole && ends[each].is_whole && members.count() == ends[each].members.count();
      end.members |= members;
      end.ended |= ends[each].ended << at;
    }
  }

  const recorded_waits& waits_;
  std::vector<group_end> ends_[2];  // by group, of this iteration and of the next
  std::vector<std::vector<std::size_t>>
      ends_at_;                      // by task of this iteration: groups whose last member it is
  std::size_t task_ = 0;             // the next task
  std::vector<tasks_before> known_;  // of each of the last tasks
};

}  // namespace

void recorded_waits::drop_implied() {
  std::vector<std::vector<std::size_t>> awaited(2 * tasks);  // the groups for which each task waits
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const auto each : std::exchange(groups[i].followers, {})) awaited[each].push_back(i);
  implied_waits waits(*this);
  for (std::size_t i = 0; i < 2 * tasks; ++i) {
    waits.add(i < tasks ? std::vector<std::size_t>() : awaited[i - tasks], awaited[i]);
    for (const auto each : awaited[i]) groups[each].followers.push_back(i);
  }
  std::vector<bool> ends_before_another(groups.size());
  for (std::size_t i = groups.size(); i-- > 0;) {
    if (groups[i].followers.empty() && !ends_before_another[i]) groups[i] = {};
    for (const auto each : groups[i].earlier) ends_before_another[each] = true;
  }
}

}  // namespace teff::detail
