// Work that several workers do at the same time, waiting for each other: one such at a time in a runtime.
#pragma once

namespace teff::detail {

class scheduler;

// Were two at work at once, one worker might begin with the one and another with the other, and each wait for
// ever. Intrusive, as job: the submitter keeps it until it has ended.
struct gang {
  void (*start)(gang&) noexcept;  // submits a job to each worker that takes part
  gang* next = nullptr;           // the queue's
};

// Has it started, as soon as those submitted before have ended. Any thread may call it.
void submit(scheduler&, gang&) noexcept;
// The one that is at work has ended: the next one is started. From here on, its submitter may be told.
void end_gang(scheduler&) noexcept;

// On a worker: returns when `done(what)`, and runs nothing else meanwhile; it spins, then sleeps. Whoever
// makes `done` true calls published_to() afterwards.
void block_until(bool (*done)(const void*), const void* what) noexcept;

}  // namespace teff::detail
