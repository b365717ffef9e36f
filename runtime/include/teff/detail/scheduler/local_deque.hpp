// A worker's deque, in thread-local storage, with what else the thread needs fast; and the slots in it.
#pragma once

#include <teff/detail/scheduler/split_deque.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace teff::detail {

class scope_state;
class source;
class trace_ring;
struct source_worker;

// A task in place. `run` is told the runner: the scope whose end does so, or `thief`. Small closures live in
// `data`; the state is 0 whenever the slot is not stolen, so that a push need not write it.
struct alignas(64) task_slot {
  void (*run)(task_slot&, const scope_state* by);
  std::atomic<std::uint32_t> state;
  unsigned exceptions;  // a fork's: how many were in flight when it was made; and made_outside
  alignas(16) std::byte data[48];
};
static_assert(sizeof(task_slot) == 64, "a slot is a cache line");

// A fork's slot lies in no deque: a thread that is no worker made it.
inline constexpr unsigned made_outside = 1U << 31;

// Never dereferenced.
template <class Scope>
inline Scope* const thief = reinterpret_cast<Scope*>(1);

namespace slot_state {
inline constexpr std::uint32_t idle = 0;
inline constexpr std::uint32_t ended = 1;        // a join's task returned: `data` holds its result
inline constexpr std::uint32_t failed = 2;       // a join's task threw: `data` holds the exception_ptr
inline constexpr std::uint32_t moved_out = 3;    // a scope's task left the slot, which may be used again
inline constexpr std::uint32_t first_thief = 8;  // 8 + index of the worker that runs it
}  // namespace slot_state

// A thief's record of the stolen slots that it has run, for fork_join (src/fork_join/stolen_tasks.hpp).
template <class Slot, class Scope>
struct stolen_record {
  // Tasks that have ended, all of one scope, which has not been told.
  Scope* ended_of = nullptr;
  std::int64_t ended = 0;
  void (*last_run)(Slot&, const Scope*) = nullptr;  // by which the last stolen slot was run
};

// A frame says what a thread is in the middle of (frame.hpp).
struct frame {
  // The thread runs tasks of this source, or a part of a task. Or it runs this request, or a handler of this
  // communicator. Null: its work has no name.
  const void* of = nullptr;
  // The worker's state of the source. Null: another thread has begun the task, and this one runs a part: a
  // stolen iteration of its loop, a task of its scope, a call of blocking().
  source_worker* state = nullptr;
  // Of a body that is recorded or replayed: the source's release_observer<Name>.
  void* observer = nullptr;
  const frame* outer = nullptr;  // the frame below on the thread's stack

  [[nodiscard]] bool is_of(const source& what) const noexcept { return of == &what; }
};
// The frame of a thread that is in the middle of nothing. Programs do not name it.
[[gnu::visibility("hidden")]] extern const frame outermost_frame;

// A worker's deque. Joins may use all of the array, which is longer than their frames would fit the stack;
// scopes leave them the part above `scope_limit`.
struct local_deque : split_deque<task_slot> {
  // Not on the line that thieves write.
  alignas(64) task_slot* scope_limit = nullptr;
  // Whether the thread is the only worker: nobody asks for a share.
  bool is_alone = false;
  // The scope that was made last and lives, of the task that runs; for a stolen task, at least one that hosts
  // what the task spawns into other workers' scopes.
  scope_state* innermost = nullptr;
  // The thread's innermost frame.
  const detail::frame* frame = &outermost_frame;
  // The thread's count of exceptions in flight (Itanium C++ ABI, __cxa_get_globals); null outside the
  // workers.
  const unsigned* exceptions = nullptr;
  // Where what the worker does is recorded; null unless the deque is watched.
  trace_ring* ring = nullptr;

  // Whether this is the slot that was pushed last and not taken since. False for null.
  [[nodiscard]] bool is_newest(const task_slot* slot) const noexcept {
    // Not slot + 1, which the compiler would keep at hand from the push on.
    return reinterpret_cast<std::uintptr_t>(head()) - sizeof(task_slot) ==
           reinterpret_cast<std::uintptr_t>(slot);
  }
};

// Initial-exec and constinit: one load from the thread pointer, no call and no guard, in shared libraries
// too.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local local_deque self;

// What std::uncaught_exceptions() returns, in less time.
inline unsigned exceptions_in_flight() noexcept {
  if (self.exceptions != nullptr) return *self.exceptions;
  return static_cast<unsigned>(std::uncaught_exceptions());
}

// asked() was true, and something private has just been pushed: if a thief asks, shares, and wakes a sleeper
// if nobody searches. Returns whether the runtime is traced: then what was pushed is to be run within a
// traced_span.
[[gnu::cold]] bool share() noexcept;

// asked() was true, and the caller is between two steps of its task: runs a request that waits.
[[gnu::cold]] void look_outside() noexcept;

// For a loop whose rest does not pay a wake: whether to share the rest all the same. Yes if sharing wakes
// nobody, or if what was kept so far, in this loop and before it, would have paid a wake.
[[gnu::cold]] bool shares_without_wake() noexcept;

// If a thief asks, though nothing is to be pushed: shares what there is, or says that it can have public
// tasks. Runs nothing: a slot that has been taken may lie at the head, where another push would overwrite it.
[[gnu::cold]] void answer_thieves() noexcept;

// After self.take(slot) said no to the newest slot: true if it is the caller's after all.
[[nodiscard, gnu::cold]] bool take_back(task_slot* slot) noexcept;

// After self.take(slot) said no to a join: true if the slot is the caller's after all. If it was stolen,
// waits, running other tasks, until its thief has ended, and says false; `state` then tells how it ended.
[[gnu::cold]] bool settle(task_slot* slot) noexcept;

// The result that a thief left in the slot has been read: the slot is free again.
[[gnu::cold]] void reclaim(task_slot* slot) noexcept;

// On a thief: something that the owner of this slot may wait for has ended. Wakes the owner if it sleeps.
// The slot itself may be in use again.
[[gnu::cold]] void wake_owner(const task_slot* slot) noexcept;

}  // namespace teff::detail
