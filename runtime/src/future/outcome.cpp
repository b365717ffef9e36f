#include <teff/detail/future/outcome.hpp>
#include <teff/detail/scheduler/outside.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>

#include "scheduler/blocked_activities.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/short_wait.hpp"
#include "scheduler/worker.hpp"

#include <cstdint>

namespace teff::detail {

namespace {

// A thread that waits.
struct waiting_thread : continuation {
  waiting_thread() noexcept
      : continuation{[](continuation& this_one) noexcept {
          auto& me = static_cast<waiting_thread&>(this_one);
          set_and_wake(me.over, me.who);
        }} {}
  std::atomic<std::uint32_t> over{request_runs};
  const place who = here();
};

// What a guest does for the thread that waits.
struct helping : helping_guest {
  helping(shared_outcome& awaited, void (*how)(job&) noexcept) noexcept
      : helping_guest{job{how}}, with(awaited) {}
  shared_outcome& with;
};

// As a guest of the runtime, which lives until the request has ended that the caller has claimed; or gives
// the claim up.
void run_as_guest(shared_outcome& awaited, const job& claimed) noexcept {
  auto& runtime = *awaited.runtime();
  helping help(awaited, [](job& this_job) noexcept { static_cast<helping&>(this_job).with.run_claimed(); });
  help.is_at_hand = [](helping_guest& of) noexcept { static_cast<helping&>(of).with.withdraw_claimed(); };
  if (run_as_guest_at_hand(runtime, help, claimed)) {
    end_call(runtime);
  } else {
    awaited.unclaim();
  }
}

// Does something in the runtime of what is awaited, if that still lives.
template <class Do>
void call_in_runtime_of(const shared_outcome& awaited, Do call) {
  auto* const runtime = awaited.runtime();
  if (runtime == nullptr) return;
  try {
    begin_call_if_alive(*runtime);
  } catch (const runtime_was_shut_down&) {
    return;  // it has ended all that was submitted to it
  }
  call(*runtime);
  end_call(*runtime);
}

// A thread that is no worker does what it waits for, as a guest, if that is at hand.
void help_as_guest(shared_outcome& awaited) {
  if (const auto* const claimed = awaited.claim()) return run_as_guest(awaited, *claimed);
  if (awaited.helps_with() == nullptr) return;
  call_in_runtime_of(awaited, [&](scheduler& runtime) {  // what it is made of
    const auto* const first = awaited.helps_with();
    if (first == nullptr) return;
    helping help(awaited, [](job& this_job) noexcept { static_cast<helping&>(this_job).with.help(); });
    static_cast<void>(run_as_guest_at_hand(runtime, help, *first));
  });
}

// It looks again and again, for a while: a worker that leaves requests to it may be about to sleep. If none
// does, those that are awake are to run it. If one runs it already, the thread keeps none from the others.
void help_as_soon_as_guest(shared_outcome& awaited) {
  call_in_runtime_of(awaited, [&](scheduler& runtime) {
    if (awaited.helps_with() == nullptr) return give_way_to_searcher(runtime);
    const auto helps = [&] {
      if (awaited.helps_with() == nullptr) return true;
      if (is_worker_at_hand(runtime)) help_as_guest(awaited);
      return awaited.ended();
    };
    if (!happens_soon(helps)) runtime.needs_all_for_requests();
  });
}

}  // namespace

void shared_outcome::expect_not_lost() const {
  if (is_lost()) throw forked_process();
}

void shared_outcome::wait() {
  if (ended()) return;
  expect_not_lost();
  // On a worker what that runs lies on the activities here, which the search sees. As a guest they lie
  // elsewhere.
  const bool helps_here = worker::current() != nullptr || spare_threads::is_here();
  if (helps_here) {
    help();
    if (ended()) return;
  }
  const blocked_activities blocked(*this);
  if (blocked.for_ever()) {
    throw future_waits_for_itself(
        "teff::future: waited for where that would never end: its task, or one that it waits for, waits "
        "for the task that waits");
  }
  if (!helps_here) help_as_guest(*this);
  waiting_thread me;
  if (!when_ended(me)) return;
  if (!helps_here) help_as_soon_as_guest(*this);
  wait_until_set(me.over, me.who);
}

}  // namespace teff::detail
