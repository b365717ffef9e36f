#include <teff/detail/flow/flow_checker.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace teff::detail {

flow_checker::ranges flow_checker::ranges_of(std::span<const access> accesses, bool written_only) {
  ranges all;
  for (const auto& each : accesses) {
    if (written_only && each.mode == access_mode::in) continue;
    for (std::size_t row = 0; each.bytes != 0 && row < each.rows; ++row) {
      const auto begin = reinterpret_cast<std::uintptr_t>(each.first) + row * each.stride;
      all.push_back({begin, begin + each.bytes});
    }
  }
  return all;
}

flow_checker::ranges flow_checker::without(ranges all, const ranges& removed) {
  for (const auto& hole : removed) {
    ranges left;
    for (const auto& each : all) {
      if (each.begin < hole.begin) left.push_back({each.begin, std::min(each.end, hole.begin)});
      if (each.end > hole.end) left.push_back({std::max(each.begin, hole.end), each.end});
    }
    all = std::move(left);
  }
  return all;
}

std::optional<std::string> flow_checker::run(flow_task& task, std::span<const access> accesses) {
  const auto named = ranges_of(accesses, false);
  const auto text = [](std::uintptr_t begin, std::uintptr_t end) {
    return std::to_string(end - begin) + " bytes at " + std::to_string(begin);
  };
  if (!running_.empty()) {
    if (const auto outside = without(named, *running_.back()); !outside.empty())
      return "names " + text(outside.front().begin, outside.front().end) +
             ", which the task in which it is made does not name: name them there, too, as weak if only "
             "inner tasks "
             "touch them";
  }
  const std::size_t known = known_.size();
  known_.insert(known_.end(), named.begin(), named.end());
  const auto guarded = without(known_, ranges_of(accesses, true));
  std::vector<std::vector<std::byte>> before;
  for (const auto& each : guarded) {
    const auto* const first = reinterpret_cast<const std::byte*>(each.begin);
    before.emplace_back(first, first + (each.end - each.begin));
  }
  running_.push_back(&named);
  in_loop_ = task.body->loop != nullptr;
  struct leave {
    flow_checker& of;
    std::size_t known;
    bool inner;
    ~leave() {
      of.running_.pop_back();
      of.in_loop_ = false;  // it has no inner task
      // The memory that inner tasks have named may be gone with the task.
      if (!inner) of.known_.resize(std::min(of.known_.size(), known));
    }
  } const leaving{*this, known + named.size(), running_.size() > 1};
  task.body->run(task);
  for (std::size_t i = 0; task.body->reduction != nullptr; ++i) {
    reduction_part* const copy = task.body->reduction(task, i);
    if (copy == nullptr) break;
    copy->combine(*copy);
  }
  for (std::size_t i = 0; i < guarded.size(); ++i) {
    const auto* const now = reinterpret_cast<const std::byte*>(guarded[i].begin);
    const auto changed = std::mismatch(before[i].begin(), before[i].end(), now).first - before[i].begin();
    if (const auto at = guarded[i].begin + static_cast<std::uintptr_t>(changed); at != guarded[i].end)
      return "has written memory at " + std::to_string(at) +
             ", which another task names and it does not, or by in() only: name it by inout()";
  }
  return std::nullopt;
}

}  // namespace teff::detail
