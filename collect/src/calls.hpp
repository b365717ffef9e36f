// What interposed calls of all runtimes have in common: that a body makes a task, and that it takes its next chunk.
#pragma once

#include "seat.hpp"

namespace teff::collect {

// The current body is in an interposed call from `caller` on. The runtime's own events within know it by that. A task that the
// runtime runs within has a call of its own.
class interposed_call {
 public:
  interposed_call(seat& thread, const void* caller, bool makes_taskloop = false) : thread_(thread), body_(thread.current) {
    body_->caller = caller;
    body_->makes_taskloop = makes_taskloop;
  }
  ~interposed_call() {
    if (thread_.current == body_) body_->caller = nullptr; // else an untied task was put aside within, and may have ended elsewhere
  }
  interposed_call(const interposed_call&) = delete;
  interposed_call& operator=(const interposed_call&) = delete;

 private:
  seat& thread_;
  activation* body_;
};

// The current body makes a task, unless it is too short for the clock.
class creation {
 public:
  explicit creation(seat& thread) : thread_(thread), maker_(thread.current) {
    if (thread.doing() == state::body) thread.enter(state::creation);
  }
  ~creation() {
    // An untied task may have been put aside within: the thread is in another body then.
    if (thread_.current == maker_ && thread_.doing() == state::creation) thread_.enter(maker_->inside());
  }
  creation(const creation&) = delete;
  creation& operator=(const creation&) = delete;

 private:
  seat& thread_;
  activation* maker_;
};

// The seat of the thread, if what it calls belongs to a region and not to a call within an interposed one.
inline seat* calling_seat() {
  return me != nullptr && me->current != nullptr && me->current->caller == nullptr ? me : nullptr;
}

// The current body makes a task by `go_on`. The events of libomp tell of the rest.
template <class GoOn>
auto make_by_libomp(const void* caller, bool taskloop, GoOn go_on) {
  seat* thread = calling_seat();
  if (thread == nullptr) return go_on();
  const creation made(*thread);
  const interposed_call call(*thread, caller, taskloop);
  return go_on();
}

// The thread ends its chunk, if it has one, and takes the next by `take`, which says whether there was one. The site of the loop
// is the return address of this call; null if the call only begins the loop.
template <class Take>
auto next_chunk(kind what, const void* site, Take take) {
  seat* thread = calling_seat();
  if (thread == nullptr) return take();
  activation* chunk = thread->current;
  if (chunk->what == what) {
    thread->end_chunk(*chunk, site);
  } else if (chunk->what == kind::share) { // the runtime announced a loop, and did not say that it has chunks
    thread->enter(state::dispatch);
    chunk->what = what;
  } else {
    chunk = thread->begin_part(what, site, state::dispatch);
    if (chunk == nullptr) return take();
  }
  chunk->caller = chunk; // any address: what the runtime announces within is known
  const auto taken = take();
  chunk->caller = nullptr;
  if (taken) {
    thread->begin_chunk(*chunk, site);
  } else {
    thread->end_part(false);
  }
  return taken;
}

} // namespace teff::collect
