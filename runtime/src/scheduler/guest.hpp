// A calling thread that is worker 0 for the length of a call (guests.md).
#pragma once

#include <teff/detail/scheduler/job.hpp>

namespace teff::detail {

class scheduler;

// Each of these runs the job on the calling thread, which is no worker, as worker 0 of the runtime. False:
// worker 0's seat is not free; nothing was done. Within a call_in_progress.

// Where worker 0's own thread searches, waits until it leaves the seat.
[[nodiscard]] bool run_as_guest(scheduler&, job&) noexcept;
// For a job that runs this request first. Does not wait, since a worker that searches finds the request.
[[nodiscard]] bool run_as_guest_for(scheduler&, job&, const job& request) noexcept;
// Calls begin(), then runs jobs for worker 0 alone until `done()`, or until there has been none for as
// long as a worker looks before it parks.
[[nodiscard]] bool take_part_as_guest(scheduler&, action begin, condition done) noexcept;

}  // namespace teff::detail
