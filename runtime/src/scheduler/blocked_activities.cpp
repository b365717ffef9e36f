#include "scheduler/blocked_activities.hpp"

#include "platform/process_wide.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace teff::detail {

namespace {

struct blocked_activity {
  const blocked_activities* noted_by;
  const void* activity;
  const void* awaited;
};

// Of all runtimes of the process.
struct blocked_list {
  std::vector<blocked_activity> each;
  void begin_child() noexcept { each.clear(); }
};
using noted_list = process_wide<blocked_list>;

// Whether `from` can't end before `to` does.
bool waits_for(const blocked_list& all, const void* from, const void* to) {
  std::vector<const void*> reached{from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == to) return true;
    for (const auto& each : all.each) {
      if (each.activity == reached[i] && std::ranges::find(reached, each.awaited) == reached.end())
        reached.push_back(each.awaited);
    }
  }
  return false;
}

}  // namespace

blocked_activities::blocked_activities(const activities& blocked, const void* awaited)
    : noted_(blocked.any()) {
  if (!noted_) return;
  noted_list::with([&](blocked_list& all) {
    blocked.each([&](const void* activity) { for_ever_ = for_ever_ || waits_for(all, awaited, activity); });
    if (for_ever_) return;
    blocked.each([&](const void* activity) { all.each.push_back({this, activity, awaited}); });
  });
}

blocked_activities::~blocked_activities() {
  if (!noted_) return;
  noted_list::with([this](blocked_list& all) {
    std::erase_if(all.each, [this](const blocked_activity& each) { return each.noted_by == this; });
  });
}

}  // namespace teff::detail
