#include "scheduler/guest.hpp"

#include <teff/detail/scheduler/process.hpp>
#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/scheduler/spin_lock.hpp>

#include "platform/call_stack.hpp"
#include "platform/stack_overflow.hpp"
#include "scheduler/runtime_registry.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/search_pace.hpp"

#include <chrono>

namespace teff::detail {

namespace {

// When this returns no other thread looks at the calling thread's deque.
void unbind() noexcept {
  if (this_thread.bound_to == nullptr) return;
  runtimes::each([](scheduler& runtime) noexcept {
    if (runtime.number() != this_thread.bound_runtime) return;
    // The worker's deque has been another one since the guest left. A thief that looks from the fence on
    // sees that, as does a thread that asks from outside.
    runtime.fences().everywhere();
    for (const auto& each : runtime.workers()) each->deque().wait_until_it_looked();
    this_thread.bound_to->deque().wait_until_asked();
  });
  this_thread.bound_to = nullptr;
}

// Makes the calling thread's deque one for this worker's slots.
void bind(scheduler& runtime, worker& mine) noexcept {
  struct at_end_of_thread {
    ~at_end_of_thread() {
      unbind();
      this_thread.refuses_to_be_a_guest = true;
    }
    handler_stack handlers;
  };
  static thread_local at_end_of_thread end;
  static_cast<void>(end);
  unbind();
  mine.deque().open_here();
  this_thread.bound_to = &mine;
  this_thread.bound_runtime = runtime.number();
}

// Returns worker 0, which the calling thread is from now on; null: its seat is not free.
worker* enter(scheduler& runtime) noexcept {
  auto& mine = *runtime.workers().front();
  const auto as = runtime.gate().enter([&]() noexcept {
    if (this_thread.bound_to != &mine || this_thread.bound_runtime != runtime.number()) bind(runtime, mine);
    mine.begin_guest();
  });
  if (as == entered::no) return nullptr;
  if (as == entered::with_promise) mine.hand_over_time();
  // On another worker's processor it would share that, until the system moves it some milliseconds later.
  const auto* const here = runtime.worker_of_this_processor();
  if (here != nullptr && here != &mine) runtime.move_to_processor_of(mine.index());
  return &mine;
}

// The own thread that searches leaves the seat within some microseconds, unless it is off its core.
worker* enter_soon(scheduler& runtime) noexcept {
  if (auto* const mine = enter(runtime)) return mine;
  if (!runtime.workers().front()->is_idle()) return nullptr;
  auto& seat = runtime.gate().the_seat();
  seat.begin_to_want();
  worker* mine = nullptr;
  const auto deadline = std::chrono::steady_clock::now() + short_wait;
  for (int looks = 0; mine == nullptr && std::chrono::steady_clock::now() < deadline; ++looks) {
    relax_or_yield(looks);  // that thread may wait for this core
    mine = enter(runtime);
  }
  seat.end_to_want();
  return mine;
}

[[nodiscard]] bool may_be_a_guest() noexcept {
  return call_stack::available && !this_thread.refuses_to_be_a_guest;
}

// A spare thread of another runtime blocks, as to that one.
bool run_as(worker* mine, job& job) noexcept {
  if (mine == nullptr) return false;
  const thread_blocks elsewhere;
  const bool ran = mine->run_as_guest(job);
  mine->end_guest();
  return ran;
}

}  // namespace

bool was_forked_by_worker() noexcept {
  return this_thread.refuses_to_be_a_guest;
}

bool run_as_guest(scheduler& runtime, job& job) noexcept {
  return may_be_a_guest() && run_as(enter_soon(runtime), job);
}

bool run_as_guest_for(scheduler& runtime, job& job, const detail::job& request) noexcept {
  // The only worker begins older ones first: no other thread could.
  if (runtime.workers().size() == 1 &&
      (!runtime.requests().calls().empty() || runtime.requests().queue().oldest() != &request))
    return false;
  return may_be_a_guest() && run_as(enter(runtime), job);
}

bool take_part_as_guest(scheduler& runtime, action begin, condition done) noexcept {
  const auto take_part = [&] {
    begin();
    auto& me = *worker::current();
    const within_activity part(me.activities(), {.of = &me});
    me.wait_until([&] { return me.inbox().empty() && done(); }, {.how = waits::as_guest});
  };
  calling_job job(take_part);
  return run_as_guest(runtime, job);
}

}  // namespace teff::detail
