// A calling thread that mans a worker for the length of a call (guests.md).
#pragma once

#include <teff/detail/scheduler/job.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/within_activity.hpp"

#include <exception>
#include <utility>

namespace teff::detail {

// Runs the job on the calling thread, which is no worker, as one of the runtime's workers. False: no worker
// is vacant or becomes so at once; nothing was done. Within a call_in_progress.
[[nodiscard]] bool run_as_guest(scheduler&, job&) noexcept;

// The same for wait(), which waits for something that the calling thread did not spawn. Meanwhile the thread
// runs work of sources and of gangs, and nothing that might wait for the thread itself. Throws what wait()
// throws.
template <class Wait>
[[nodiscard]] bool wait_as_guest(scheduler& runtime, Wait wait) {
  struct waiting : job {
    explicit waiting(Wait& awaited)
        : job{[](job& this_job) noexcept {
            auto& me = static_cast<waiting&>(this_job);
            const within_activity here(*worker::current(), {.of = &me});
            try {
              me.wait();
            } catch (...) {
              me.error = std::current_exception();
            }
          }},
          wait(awaited) {}
    Wait& wait;
    std::exception_ptr error;
  } call(wait);
  if (!run_as_guest(runtime, call)) return false;
  if (call.error) std::rethrow_exception(std::move(call.error));
  return true;
}

}  // namespace teff::detail
