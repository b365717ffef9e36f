// A call from outside the workers, which the runtime has to outlive.
#pragma once

#include <teff/detail/scheduler/source.hpp>

namespace teff::detail {

// While it lives, the runtime does not shut down. Throws runtime_was_shut_down.
class call_in_progress {
 public:
  explicit call_in_progress(scheduler& runtime) : runtime_(runtime) { begin_call(runtime); }
  ~call_in_progress() { end_call(runtime_); }
  call_in_progress(const call_in_progress&) = delete;
  call_in_progress& operator=(const call_in_progress&) = delete;

 private:
  scheduler& runtime_;
};

}  // namespace teff::detail
