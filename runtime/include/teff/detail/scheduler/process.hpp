// Which process this is, and the end of a child process (src/scheduler/forks.md).
#pragma once

namespace teff::detail {

// How many forks lie between the process that first loaded libteff and this one.
[[nodiscard]] unsigned this_process() noexcept;

// Whether this is a child process, which the calling thread has forked as a worker: its tasks can't go on.
[[nodiscard]] bool was_forked_by_worker() noexcept;

// Says on stderr that a task that has called fork() has returned in the child, and ends the process: the
// thread that waits for the task is not there.
[[noreturn, gnu::cold]] void end_child_process() noexcept;

}  // namespace teff::detail
