// The runtimes of this process: by it a thread wakes a worker of another runtime than its own. That runtime
// may be gone by then, since what its worker waited for has happened. And which process this is: after a
// fork() the runtimes of the parent are none of the child's (forks.md).
#pragma once

#include <teff/detail/scheduler/local_deque.hpp>

#include <cstdint>

namespace teff::detail {

class scheduler;

namespace runtime_registry {

void add(scheduler& begun);
void remove(const scheduler& ended) noexcept;

// scheduler::begin_call(), if that runtime still lives. Else throws runtime_was_shut_down.
void begin_call(const scheduler& runtime);

// Wakes this worker, if its runtime still lives.
void wake(const scheduler& runtime, unsigned worker) noexcept;
// Wakes the worker whose deque has this slot, if it still lives.
void wake_owner(const task_slot* slot) noexcept;

// Calls do_to(runtime), if the runtime with this number still lives; it does until that returns.
void visit(std::uint64_t number, void (*do_to)(scheduler&) noexcept) noexcept;
}  // namespace runtime_registry
}  // namespace teff::detail
