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
  bool found = false;
  std::size_t last = 0;
  tasks_before members;
  tasks_before ended;    // these, and all tasks that had ended when one of them began
  bool is_whole = true;  // all members have a bit
};

class implied_waits {
 public:
  implied_waits(std::size_t tasks, std::vector<std::vector<std::size_t>> members)
      : tasks_(tasks), members_(std::move(members)), known_(tasks_before().size()) {
    for (auto& each : ends_) each.resize(members_.size());
  }

  // Erases from `groups`, for which the next task waits, each group whose wait others imply. `again`: the
  // next task waits for the ends of these groups in the next iteration.
  void add(const std::vector<std::size_t>& again, std::vector<std::size_t>& groups) {
    tasks_before known;  // from the task before on: those that have ended when this one begins
    const auto since = [this](const group_end& end) { return task_ - end.last - 1; };
    for (const auto each : again) known |= end_of(each, true).ended << since(end_of(each, true));
    // The latest group first: its end may imply the ends of earlier groups.
    std::ranges::sort(groups, std::greater(), [this](std::size_t each) { return end_of(each, false).last; });
    std::erase_if(groups, [&](std::size_t each) {
      const group_end& end = end_of(each, false);
      if (end.is_whole && (end.members & ~(known >> since(end))).none()) return true;
      known |= end.ended << since(end);
      return false;
    });
    known_[task_++ % known_.size()] = known;
  }

 private:
  // Of a group that the next task waits for.
  const group_end& end_of(std::size_t group, bool next) {
    group_end& end = ends_[next ? 1 : 0][group];
    if (std::exchange(end.found, true)) return end;
    const std::size_t first = next ? tasks_ : 0;
    for (const auto each : members_[group]) end.last = std::max(end.last, first + each);
    for (const auto each : members_[group]) {
      const auto at = end.last - (first + each);
      if (at >= end.members.size()) {
        end.is_whole = false;
        continue;
      }
      end.members.set(at);
      if (task_ - (first + each) <= known_.size())
        end.ended |= known_[(first + each) % known_.size()] << (at + 1);
    }
    end.ended |= end.members;
    return end;
  }

  const std::size_t tasks_;
  const std::vector<std::vector<std::size_t>> members_;  // by group
  std::vector<group_end> ends_[2];                       // of this iteration, and of the next
  std::size_t task_ = 0;                                 // the next task
  std::vector<tasks_before> known_;                      // of each of the last tasks
};

}  // namespace

void recorded_waits::drop_implied() {
  std::vector<std::vector<std::size_t>> members(
      groups.size());  // of each group, and of all groups that end before it
  std::vector<std::vector<std::size_t>> awaited(2 * tasks);  // the groups for which each task waits
  for (std::size_t i = 0; i < groups.size(); ++i) {
    members[i] = groups[i].members;
    for (const auto each : groups[i].earlier)
      members[i].insert(members[i].end(), members[each].begin(), members[each].end());
    for (const auto each : std::exchange(groups[i].followers, {})) awaited[each].push_back(i);
  }
  implied_waits waits(tasks, std::move(members));
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
