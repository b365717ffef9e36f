// Functions that ways in call so that a trace (TEFF_TRACE) records them. Costs without a trace:
// src/trace/README.md.
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/task_name.hpp>

#include <cstdint>

namespace teff::detail {

// What a worker was at. The order is that of their names in trace.cpp.
enum class event_kind : std::uint8_t {
  task,       // a task, as counters count them
  run,        // a call of runtime::run(), or another job
  loop,       // a loop on the worker that called it
  waiting,    // for tasks that other workers run
  searching,  // for work
  parked,     // asleep
  handler,    // of what came from some rank
  send,       // to another rank, or to its own
  steal,      // an instant, as all that follow; with the victim
  exposure,   // a look at all workers' private parts
  wake,       // of some sleeper
  arrival,    // of what was sent; what handles it runs next
};
inline constexpr bool is_instant(event_kind what) noexcept {
  return what >= event_kind::steal;
}

class trace_ring;

// The ring of the calling worker; null on other threads, and where nothing is traced.
inline trace_ring* ring_here() noexcept {
  return self.ring;
}

// A task was pushed, or is run in the place of being pushed.
[[gnu::cold]] void record_spawn(trace_ring&) noexcept;
// Something that began at `began` (ticks) ends now.
[[gnu::cold]] void record(trace_ring&, event_kind what, const char* name, std::uint64_t began) noexcept;
[[gnu::cold]] std::uint64_t ticks_now() noexcept;

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
