// Requests: jobs that others may wait for without having spawned them, and closures that block their thread.
//
// An internal interface beside job.hpp (src/scheduler/requests.md).
#pragma once

#include <teff/detail/scheduler/job.hpp>

namespace teff::detail {

// Any worker may run the job, or a spare thread, where what it spawns runs in order. A busy worker that may
// run it does so between two of its tasks. First in, first out; thread-safe.
void submit_request(scheduler&, job&) noexcept;
// The caller runs it itself: takes it out of the queue. False: somebody else has, and will call `run`.
[[nodiscard]] bool withdraw_request(scheduler&, job&) noexcept;

// Between two tasks of a source, in its run(): whether that is to return, since the worker is to begin a
// request that nobody else does. If it may not begin one, a spare thread is to.
[[nodiscard, gnu::cold]] bool makes_way_for_request() noexcept;

// begin_call() of a runtime that may have gone. Throws runtime_was_shut_down.
void begin_call_if_alive(scheduler&);

// Calls body(). On a worker that is an activity, which others may wait for by the name `of`: while it
// waits, the worker runs nothing that might wait for it.
void run_as_activity(const void* of, action body) noexcept;

// Whether the calling thread is a worker of this runtime, or one of its spare threads.
[[nodiscard]] bool works_for(const scheduler&) noexcept;

// Whether the calling thread is a worker of this runtime, with room on its stack for work that it waits for.
[[nodiscard]] bool has_room_for_awaited(const scheduler*) noexcept;

// On a worker: has a spare thread run the job, and runs other work until the job has ended. False: no spare
// thread can be had, and nothing has been done. Throws std::bad_alloc.
[[nodiscard]] bool run_aside(awaited_job&);

// While it lives, the calling thread blocks. If that is a spare thread that runs requests, another may take
// its place.
class thread_blocks {
 public:
  thread_blocks() noexcept;
  ~thread_blocks();
  thread_blocks(const thread_blocks&) = delete;
  thread_blocks& operator=(const thread_blocks&) = delete;
};

}  // namespace teff::detail
