// The events of a trace, and the functions that record them (src/trace/README.md).
#pragma once

#include <cstdint>

namespace teff::detail {

// The kinds of events of a worker. trace.cpp has their names in the same order.
enum class event_kind : std::uint8_t {
  task,       // a task, as counters count them
  run,        // a call of runtime::run(), or another job
  loop,       // a loop on the worker that called it
  waiting,    // for tasks that other workers run
  searching,  // for work
  parked,     // asleep
  handler,    // of a message
  send,       // of a message, to any rank
  steal,      // an instant, as all that follow; with the victim
  exposure,   // a look at all workers' private parts
  wake,       // of a sleeper
  arrival,    // of a message; its handler runs next
};
inline constexpr bool is_instant(event_kind what) noexcept {
  return what >= event_kind::steal;
}

class trace_ring;

// A task was pushed, or is run in the place of being pushed.
[[gnu::cold]] void record_spawn(trace_ring&) noexcept;
// An event that began at `began` (ticks) ends now.
[[gnu::cold]] void record(trace_ring&, event_kind what, const char* name, std::uint64_t began) noexcept;
[[gnu::cold]] std::uint64_t ticks_now() noexcept;

}  // namespace teff::detail
