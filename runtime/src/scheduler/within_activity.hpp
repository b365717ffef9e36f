// From here to the end of the block a worker is in the middle of an activity.
#pragma once

#include "scheduler/worker.hpp"

namespace teff::detail {

class within_activity {
 public:
  within_activity(worker& me, enclosing_activity what) noexcept : me_(me), exclusive_(what.exclusive) {
    me_.activities().begin(what, self.head());
  }
  ~within_activity() { me_.activities().end(exclusive_); }
  within_activity(const within_activity&) = delete;
  within_activity& operator=(const within_activity&) = delete;

 private:
  worker& me_;
  const bool exclusive_;
};

}  // namespace teff::detail
