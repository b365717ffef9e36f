// Functions that ways in call so that a trace (TEFF_TRACE) records them. Costs without a trace:
// src/trace/README.md.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/task_name.hpp>
#include <teff/detail/trace/recording.hpp>

#include <cstdint>

namespace teff::detail {

// The ring of the calling worker; null on other threads, and where nothing is traced.
inline trace_ring* ring_here() noexcept {
  return self.ring;
}

// From here to the end of the block the worker is at this. Costs a load and a branch where nothing is traced,
// so it is for places that are cold or dear; where a task of some nanoseconds runs unstolen, the way in
// decides by a branch that it takes anyway (asked() of the deque, the flags of a scope) and is here only if
// traced.
class traced_span {
 public:
  traced_span(event_kind what, const char* name) noexcept : ring_(ring_here()), name_(name), what_(what) {
    if (ring_ != nullptr) [[unlikely]]
      began_ = ticks_now();
  }
  ~traced_span() {
    if (ring_ != nullptr) [[unlikely]]
      record(*ring_, what_, name_, began_);
  }
  traced_span(const traced_span&) = delete;
  traced_span& operator=(const traced_span&) = delete;

 private:
  trace_ring* ring_;
  const char* name_;
  std::uint64_t began_ = 0;
  event_kind what_;
};

}  // namespace teff::detail
