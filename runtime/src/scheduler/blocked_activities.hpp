// Who waits for what: finds waits that could never end.
#pragma once

#include "scheduler/activities.hpp"

namespace teff::detail {

// While it lives, the calling worker waits for a graph or a replay, so that none of its errands can end
// before that does.
class blocked_errands {
 public:
  // Throws std::bad_alloc.
  blocked_errands(const errands& errands, const void* awaited);
  ~blocked_errands();
  blocked_errands(const blocked_errands&) = delete;
  blocked_errands& operator=(const blocked_errands&) = delete;

  // Whether what is awaited waits, by tasks of its own that wait and so on, for one of those errands.
  [[nodiscard]] bool for_ever() const noexcept { return for_ever_; }

 private:
  bool noted_;
  bool for_ever_ = false;
};

}  // namespace teff::detail
