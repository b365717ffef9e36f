// A job: work that lies in no deque, because it comes from outside the runtime's tasks.
//
// This is the internal interface for ways in that are built on the scheduler (src/scheduler/README.md,
// "Jobs").
#pragma once

#include <teff/detail/scheduler/waiting.hpp>

namespace teff::detail {

class scheduler;

// Intrusive: the submitter owns the job and keeps it alive until `run` was called; `run` may destroy it.
struct job {
  void (*run)(job&) noexcept;
  job* next = nullptr;      // the queue's
  job* previous = nullptr;  // the same; null: it lies in no queue that one can withdraw it from
};

// A job that calls f().
template <class F>
struct calling_job : job {
  explicit calling_job(const F& f) noexcept
      : job{[](job& this_job) noexcept { static_cast<calling_job&>(this_job).function(); }}, function(f) {}
  const F& function;
};

// Any worker of the runtime may run the job. First in, first out; thread-safe.
void submit(scheduler&, job&) noexcept;

// Worker `index` runs the job, no other does. First in, first out; thread-safe.
void submit_to(scheduler&, unsigned index, job&) noexcept;

// A job whose submitter waits for its end. The submitter runs it itself if it can, as a guest
// (src/scheduler/guests.md). The last thing that the job does is ended.come().
struct awaited_job : job {
  awaited_end ended{};
};

// Returns when it has ended. Throws runtime_was_shut_down.
void run_and_wait(scheduler&, awaited_job&);

}  // namespace teff::detail
