// Which activities wait for which: finds waits that could never end.
#pragma once

#include "scheduler/activities.hpp"

namespace teff::detail {

// While it lives, the calling worker waits for something that it did not spawn, so that none of the
// activities that it is in the middle of can end before that does.
class blocked_activities {
 public:
  // `awaited`: as enclosing_activity::of. Throws std::bad_alloc.
  blocked_activities(const activities& blocked, const void* awaited);
  ~blocked_activities();
  blocked_activities(const blocked_activities&) = delete;
  blocked_activities& operator=(const blocked_activities&) = delete;

  // Whether what is awaited can't end before one of those activities does: through tasks of its own that wait
  // for others, and so on. Then this wait is not noted.
  [[nodiscard]] bool for_ever() const noexcept { return for_ever_; }

 private:
  bool noted_;
  bool for_ever_ = false;
};

}  // namespace teff::detail
