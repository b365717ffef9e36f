// A thread's account (README.md: the model): its state, the body that it runs, its sites. Only the thread
// itself uses its seat, except where a member says otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "accounts.hpp"
#include "clock.hpp"

namespace teff::collect {

class team;

// The seat of the thread that calls. Null before here() was called in it, and if nothing is kept of it.
extern constinit thread_local class seat* me;

// Of a function, as if it were a call's return address.
inline const void* site_of(const void* function) {
  return static_cast<const char*>(function) + 1;
}

// Of a longer segment, the thread asks how long it had no core. Bodies that are shorter on average are
// counted alone (README.md). Both are in ticks, and set before the first region.
extern constinit std::atomic<std::uint64_t> longest_unasked, shortest_timed;

// One execution of a body. A task has one from its creation on. An untied task takes its own from thread to
// thread.
struct activation {
  std::uint64_t own = 0;      // ticks in the body so far, without what is nested in it
  std::uint64_t created = 0;  // when a task was made
  const void* address = nullptr;
  const void* function = nullptr;  // of a task
  const void* makes = nullptr;     // the function of the task that this body makes next
  activation* outer = nullptr;     // the body that this one is nested in
  const void* caller = nullptr;    // of the interposed call that this body is in
  const void* frame = nullptr;     // of the function that runs a task of oneTBB
  std::uint32_t segments = 0;
  kind what = kind::others;
  state resumed = state::body;  // what the thread does when it comes back to this body
  bool begun = false;
  bool nested = false;          // a thread is in it, or in what is nested in it
  bool counted = false;         // too short for the clock
  bool undeferred = false;      // a task that its maker waits for
  bool makes_taskloop = false;  // the interposed call does
  bool unconfirmed = false;     // may be a task that only halves a taskloop

  // The thread's state in the body itself.
  state inside() const { return counted ? state::counted : state::body; }
  bool is_task() const { return what == kind::task || what == kind::dependent || what == kind::taskloop; }
};

class seat {
 public:
  // The thread's segment ends, and the next one begins.
  void enter(state next, std::uint64_t now = ticks()) {
    now = std::max(now, accounts_->since);  // the counters of two processors may differ a little
    auto length = now - accounts_->since;
    // Relaxed: the number alone is used.
    if (length > longest_unasked.load(std::memory_order_relaxed)) length -= note_displaced(length);
    accounts_->times[accounts_->now] += length;
    if (!noted_.empty()) note_segment(now);
    if (doing() == state::body && current != nullptr) {
      current->own += length;
      ++current->segments;
    }
    accounts_->since = now;
    label(next);
  }
  // The thread's running segment, from its begin on, is of this state instead.
  void label(state now) { accounts_->now = static_cast<std::uint32_t>(now); }
  state doing() const { return static_cast<state>(accounts_->now); }
  std::uint64_t since() const { return accounts_->since; }

  // The thread begins a task from within whatever it does, and comes back to that.
  void begin_task(activation& task);
  void end_task(activation& task);
  // The thread comes back from the current task, which goes on later, perhaps on another thread.
  void suspend_task();
  void resume_task(activation& task);

  // The thread ends a wait that no task ended. `last_end` is last_end_anywhere(), or 0.
  void end_wait(state next, std::uint64_t now, std::uint64_t last_end);
  void end_wait(state next);

  // A region's body, or a part of the current body, which is the current one until it ends. Null without
  // memory.
  activation* begin_part(kind what, const void* address, state first);
  void end_part(bool accounts);
  void begin_chunk(activation& chunk, const void* address);
  void end_chunk(activation& chunk, const void* address);

  // Counts a body that ended; its last segment is closed.
  void account(const activation& body);
  // Counts a wait. A `partner` below 0 is unknown.
  void account_wait(kind why, const void* address, std::uint64_t length, int partner);

  activation* take();           // null without memory
  void give(activation& body);  // which any thread's take() gave

  // A thread takes the seat, or leaves it for the next one. Callers hold `growing`.
  bool arrive(std::uint32_t thread);
  void retire(std::uint64_t now);
  // Its accounts are these instead, which are in no file.
  void use(block& accounts);

  // A worker's first segment begins when its region did: its thread was made for that.
  void begin_worker(std::uint64_t region_began);
  void take_part();  // in a region, from now on or for as long as it lives
  // The current body, if no other body is around it: a process that ends within has counted no such body.
  void note_open();
  // Ends the bodies that the thread is in, up to the one that its region began in.
  void end_bodies(activation* outer);
  void end_worker(std::uint64_t now, std::uint64_t last_end);  // callers hold `lock`

  activation* current = nullptr;
  std::uint32_t runtime = 0;  // the module of the runtime that runs the region
  // When a task last ended here; its lowest bit says whether that had dependences. Other threads read it.
  std::atomic<std::uint64_t> last_end{0};
  seat* next = nullptr;  // of all seats; of vacant seats
  seat* next_vacant = nullptr;
  // Held by the thread that ends a worker's part of a region: the worker itself, or the master of its team
  // (team.hpp).
  std::mutex lock;
  const team* joined = nullptr;  // that the thread is a worker of; guarded by `lock`
  team* led = nullptr;           // the innermost one that the thread is the master of

 private:
  void leave_body(bool accounts);
  site& find(const void* address, kind what, const void* function);
  site* meet(const void* address, kind what, std::uint32_t function);
  bool skips(const void* address, kind what, const void* function);
  std::uint64_t note_displaced(std::uint64_t length);
  void note_segment(std::uint64_t now);
  void split_wait(const activation& task, std::uint64_t now);

  block* accounts_ = nullptr;
  block* last_part_ = nullptr;
  bool is_new_ = true;              // the thread has been in no region
  std::uint64_t free_since_ = 0;    // when the thread before left
  std::uint64_t without_core_ = 0;  // nanoseconds of the thread, as it last asked
  std::uint64_t seen_ = 0;          // ticks of all threads without a core, as of its last long segment
  activation* free_ = nullptr;
  std::size_t given_ = 0;
  site* others_ = nullptr;
  site* last_found_ = nullptr;
  std::span<segment> noted_;        // empty unless the user asked for segments
  std::array<site*, 512> sites_{};  // by address and kind
};

}  // namespace teff::collect
