// The runtimes of this process: by it a thread wakes a worker of another runtime than its own. That runtime
// may be gone by then, since what its worker waited for has happened. And which process this is: after a
// fork() the runtimes of the parent are none of the child's (forks.md).
#pragma once

#include <teff/detail/fork_join/join_task.hpp>

namespace teff::detail {

class scheduler;

namespace runtime_registry {

void add(scheduler& begun);
void remove(const scheduler& ended) noexcept;

// Wakes this worker, if its runtime still lives.
void wake(const scheduler& runtime, unsigned worker) noexcept;
// Wakes the worker whose deque has this slot, if it still lives.
void wake_owner(const task_slot* slot) noexcept;

// How many forks lie between the process that first loaded libteff and this one.
[[nodiscard]] unsigned generation() noexcept;

}  // namespace runtime_registry
}  // namespace teff::detail
