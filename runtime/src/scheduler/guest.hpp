// A calling thread that mans a worker for the length of a call (guests.md).
#pragma once

#include <teff/detail/scheduler/job.hpp>

#include "scheduler/scheduler.hpp"

#include <span>

namespace teff::detail {

// Which workers a guest may enter.
enum class among : bool {
  vacant,  // those only
  called,  // those, too, that were woken from that and have not got up: for what they would do first
};

// Runs the job on the calling thread, which is no worker, as one of the runtime's workers. False: no worker
// is free or becomes so at once; nothing was done. Within a call_in_progress.
[[nodiscard]] bool run_as_guest(scheduler&, job&, among which) noexcept;

// The same as run_as_guest() for a job that runs this request first, and needs no worker: only if it costs no
// wait and no move to another processor. That is as the worker of the processor that the thread is on; as
// any, if that has none.
[[nodiscard]] bool run_as_guest_at_hand(scheduler&, job&, const detail::job& first) noexcept;

// The calling thread, which is no worker, calls `begin(what)` as one of these workers, then runs the jobs
// that are submitted to that worker until `done(what)`, or until it has found none for as long as a worker
// looks before it parks. False: none of them is vacant or becomes so at once; nothing was done. Within a
// call_in_progress.
struct guests_part {
  void (*begin)(void* what) noexcept;
  bool (*done)(const void* what);
  void* what;
};
[[nodiscard]] bool take_part_as_guest(scheduler&, std::span<const unsigned> workers, guests_part) noexcept;

// The calling thread is to be no guest any more: frames on its stack use its deque (forks.md).
void refuse_to_be_a_guest() noexcept;

}  // namespace teff::detail
