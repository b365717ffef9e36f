#include "scheduler/blocked_activities.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <vector>

namespace teff::detail {

namespace {

struct blocked {
  const blocked_errands* by;
  const void* errand;
  const void* awaited;
};

// Of all runtimes of the process.
constinit std::mutex mutex;
std::vector<blocked>& all() {
  static std::vector<blocked> list;
  return list;
}

// Whether `from` can't end before `to` does.
bool waits_for(const void* from, const void* to) {
  std::vector<const void*> reached{from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    if (reached[i] == to) return true;
    for (const auto& each : all()) {
      if (each.errand == reached[i] && std::ranges::find(reached, each.awaited) == reached.end())
        reached.push_back(each.awaited);
    }
  }
  return false;
}

}  // namespace

blocked_errands::blocked_errands(const errands& errands, const void* awaited) : noted_(errands.any()) {
  if (!noted_) return;
  const std::lock_guard lock(mutex);
  errands.each([&](const void* errand) { for_ever_ = for_ever_ || waits_for(awaited, errand); });
  if (for_ever_) return;
  errands.each([&](const void* errand) { all().push_back({this, errand, awaited}); });
}

blocked_errands::~blocked_errands() {
  if (!noted_) return;
  const std::lock_guard lock(mutex);
  std::erase_if(all(), [this](const blocked& each) { return each.by == this; });
}

}  // namespace teff::detail
