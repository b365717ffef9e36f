// The events of a trace, and the functions that record them (src/trace/README.md).
#pragma once

#include <cstdint>

namespace teff::detail {

// The kinds of events of a worker. trace_writer.cpp has their names in the same order.
enum class event_kind : std::uint8_t {
  task,       // a task, as counters count them
  run,        // a call of runtime::run(), or another job
  loop,       // a loop on the worker that called it
  waiting,    // for tasks that other workers run
  searching,  // for work
  parked,     // asleep
  handler,    // of a message
  send,       // of a message, to any rank
  request,    // an operation of MPI that a task has begun, until a worker sees that it has completed
  steal,      // an instant, as all that follow; with the victim
  exposure,   // a look at all workers' private parts
  wake,       // of a sleeper
  arrival,    // of a message; its handler runs next
  capacity,   // of the worker, from here on
};

class trace_ring;

// A task was pushed, or is run in the place of being pushed.
[[gnu::cold]] void record_spawn(trace_ring&) noexcept;
// An event that began at `began` (ticks) ends now. `other`: as in a trace_event.
[[gnu::cold]] void record(trace_ring&, event_kind what, const char* name, std::uint64_t began,
                          std::uint32_t other = 0) noexcept;
[[gnu::cold]] std::uint64_t ticks_now() noexcept;

// The job of MPI that this process is a rank of.
struct process_job {
  int rank = 0;
  int ranks = 1;
  std::uint64_t number = 0;  // the same on all ranks, and another in each job
  bool on_one_node = false;
};
// Says which rank the traces of this process are of, if no communicator tells them. The first call counts.
void belong_to_job(const process_job& job) noexcept;

}  // namespace teff::detail
