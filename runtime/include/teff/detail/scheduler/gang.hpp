// A gang: work that several workers do at the same time, waiting for each other. A runtime runs one at a
// time.
#pragma once

#include <teff/detail/scheduler/job.hpp>

namespace teff::detail {

// If two were at work at once, two workers might begin them in opposite order and wait for each other for
// ever. `run` submits a job to each worker that takes part. The submitter keeps the gang until it has ended.
struct gang : job {};

// Starts the gang as soon as those submitted before have ended. Any thread may call it.
void submit(scheduler&, gang&) noexcept;
// The gang at work has ended: starts the next one. Only then may the submitter learn of the end.
void end_gang(scheduler&) noexcept;

}  // namespace teff::detail
