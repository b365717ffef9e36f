
#include "flow/flow_checker.hpp"
#include "flow/access_text.hpp"
#include "flow/page_guard.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace teff::detail {

flow_checker::memory flow_checker::memory_of(std::span<const access> accesses) {
  memory all;
  for (const auto& each : accesses)
    for (std::size_t row = 0; each.bytes != 0 && row < each.rows; ++row) {
      const auto begin = reinterpret_cast<std::uintptr_t>(each.first) + row * each.stride;
      add(all.named, {{begin, begin + each.bytes}});
      if (each.mode != access_mode::in) add(all.written, {{begin, begin + each.bytes}});
    }
  return all;
}

flow_checker::ranges flow_checker::without(ranges all, const ranges& removed) {
  for (const auto& hole : removed) {
    const auto meets = [&](const byte_range& each) { return each.begin < hole.end && hole.begin < each.end; };
    if (std::ranges::none_of(all, meets)) continue;
    ranges left;
    for (const auto& each : all) {
      if (each.begin < hole.begin) left.push_back({each.begin, std::min(each.end, hole.begin)});
      if (each.end > hole.end) left.push_back({std::max(each.begin, hole.end), each.end});
    }
    all = std::move(left);
  }
  return all;
}

void flow_checker::add(ranges& to, const ranges& from) {
  const auto added = without(from, to);
  to.insert(to.end(), added.begin(), added.end());
}

void flow_checker::forget(std::span<const access> accesses) {
  const auto gone = memory_of(accesses).named;
  known_ = {without(std::move(known_.named), gone), without(std::move(known_.written), gone)};
}

std::optional<std::string> flow_checker::run(flow_task& task, std::span<const access> accesses) {
  const auto mine = memory_of(accesses);
  if (!running_.empty()) {
    if (const auto outside = without(mine.named, *running_.back()); !outside.empty())
      return "names " + std::to_string(outside.front().end - outside.front().begin) + " bytes at " +
             address_in_words(outside.front().begin) +
             ", which the task in which it is made does not name: name them there, too, as weak if only "
             "inner tasks touch them";
  }
  add(known_.named, mine.named);
  add(known_.written, mine.written);
  page_guard guard(without(known_.written, mine.named));
  const auto guarded = without(known_.named, mine.written);
  std::vector<std::vector<std::byte>> before;
  for (const auto& each : guarded) {
    const auto* const first = reinterpret_cast<const std::byte*>(each.begin);
    before.emplace_back(first, first + (each.end - each.begin));
  }
  running_.push_back(&mine.named);
  in_loop_ = task.body->loop != nullptr;
  struct leave {
    flow_checker& of;
    ~leave() {
      of.running_.pop_back();
      of.in_loop_ = false;  // it has no inner task
    }
  } const leaving{*this};
  guard.begin();
  task.body->run(task);
  combine_all(task);
  guard.end();
  for (std::size_t i = 0; i < guarded.size(); ++i) {
    const auto* const now = reinterpret_cast<const std::byte*>(guarded[i].begin);
    const auto changed = std::mismatch(before[i].begin(), before[i].end(), now).first - before[i].begin();
    if (const auto at = guarded[i].begin + static_cast<std::uintptr_t>(changed); at != guarded[i].end)
      return "has written memory at " + address_in_words(at) +
             ", which another task names and it does not, or by in() only: name it by inout()";
  }
  if (guard.touched() != 0)
    return "has read memory at " + address_in_words(guard.touched()) +
           ", which an earlier task names as written and it does not name: name it by in()";
  return std::nullopt;
}

}  // namespace teff::detail
