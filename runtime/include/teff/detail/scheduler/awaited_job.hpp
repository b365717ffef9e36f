// A job whose submitter waits for its end.
#pragma once

#include <teff/detail/scheduler/job.hpp>

#include <atomic>
#include <cstdint>

namespace teff::detail {

// Its submitter runs it itself if it can, as a guest (src/scheduler/guests.md); else sleeps until it has
// ended.
struct awaited_job : job {
  std::atomic<std::uint32_t> ended{0};
  place submitter{};       // if it is a worker: it looks for other work until it is woken
  bool is_awaited = true;  // by a thread that does not run it itself
};

// Returns when it has ended. Throws runtime_was_shut_down.
void run_and_wait(scheduler&, awaited_job&);
// The last thing that the job does: its submitter may be gone when this returns.
void wake_submitter(awaited_job&) noexcept;

}  // namespace teff::detail
