// Interposed calls of all runtimes in which a body makes a task, or takes its next chunk.
#pragma once

#include "runtimes.hpp"
#include "seats.hpp"

namespace teff::collect {

// The function of the region that the thread begins next on libomp. The event names the address behind the
// call, and a call that ends a function has none there.
extern constinit thread_local const void* region_function;

// The seat of the thread, if what it calls belongs to a region and not to a call within an interposed one.
inline seat* calling_seat() {
  return me != nullptr && me->current != nullptr && me->current->caller == nullptr ? me : nullptr;
}

// The current body makes a task, unless the body is too short for the clock. It is in the call from `caller`
// on: the runtime's own events within know it by that. A task nested in the call has separate calls. An
// untied maker may be put aside within, and the thread is in another body then.
class creation {
 public:
  creation(seat* thread, const void* caller, bool makes_taskloop)
      : thread_(thread), maker_(thread == nullptr ? nullptr : thread->current) {
    if (maker_ == nullptr) return;
    if (thread->doing() == state::body) thread->enter(state::creation);
    maker_->caller = caller;
    maker_->makes_taskloop = makes_taskloop;
  }
  ~creation() {
    if (maker_ == nullptr || thread_->current != maker_) return;
    maker_->caller = nullptr;
    maker_->makes_taskloop = false;
    if (thread_->doing() == state::creation) thread_->enter(maker_->inside());
  }
  creation(const creation&) = delete;
  creation& operator=(const creation&) = delete;

 private:
  seat* thread_;
  activation* maker_;  // null if nothing is kept of the call
};

// The current body makes a task in this call.
template <class GoOn>
auto make_in(const incoming_call& call, GoOn go_on, bool taskloop) {
  const creation made(calling_seat(), call.caller, taskloop);
  return go_on();
}

// The current body waits in this call.
template <class GoOn>
auto wait_in(const incoming_call&, GoOn go_on, state why) {
  seat* const thread = calling_seat();
  if (thread == nullptr) return go_on();
  thread->enter(why);
  const auto result = go_on();
  thread->end_wait(thread->current->inside());
  return result;
}

// The thread ends its chunk, if it has one, and takes the next one. `take` says whether there was one. The
// loop's site is the return address of this call, unless the call only begins the loop.
template <class Take>
auto next_chunk(const incoming_call& call, Take take, kind what, bool begins) {
  const void* const site = begins ? nullptr : call.caller;
  seat* thread = calling_seat();
  if (thread == nullptr) return take();
  activation* chunk = thread->current;
  if (chunk->what == what) {
    thread->end_chunk(*chunk, site);
  } else if (chunk->what ==
             kind::share) {  // the runtime announced a loop, and did not say that it has chunks
    thread->enter(state::dispatch);
    chunk->what = what;
  } else {
    chunk = thread->begin_part(what, site, state::dispatch);
    if (chunk == nullptr) return take();
  }
  chunk->caller = chunk;  // any address: the runtime's events within are ignored
  const auto taken = take();
  chunk->caller = nullptr;
  if (taken) {
    thread->begin_chunk(*chunk, site);
  } else {
    thread->end_part(false);
  }
  return taken;
}

}  // namespace teff::collect
