#include <teff/blocking.hpp>
#include <teff/detail/future/outcome.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>

#include "platform/futex.hpp"
#include "scheduler/blocked_activities.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <climits>
#include <cstdint>

namespace teff::detail {

namespace {

// The thread looks for as long as a worker looks before it parks. If the thread slept sooner, a worker would
// begin the thread's next request first, and the thread would sleep again.
constexpr std::chrono::microseconds patience{50};

// A thread that waits.
struct waiting_thread : continuation {
  waiting_thread() noexcept
      : continuation{
            [](continuation& this_one) noexcept { static_cast<waiting_thread&>(this_one).over.come(); }} {}
  awaited_end over{this_worker()};
};

// A thread from outside runs the requests that it waits for, if they have not begun and a worker's place is
// free.
void help_as_guest(shared_outcome& awaited) {
  const auto help = [&awaited] { awaited.help(); };
  calling_job job(help);
  auto* const runtime = awaited.runtime();
  if (runtime == nullptr || awaited.helps_with() == nullptr) return;
  try {
    begin_call_if_alive(*runtime);
  } catch (const runtime_was_shut_down&) {
    return;  // it has ended all that was submitted to it
  }
  if (const auto* const first = awaited.helps_with())
    static_cast<void>(run_as_guest_for(*runtime, job, *first));
  end_call(*runtime);
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
  me.over.wait(patience);
}

// ---- Not longer than until a deadline ----

// One continuation for all such waits, as none can be taken back: a program may wait a short time again and
// again.
struct shared_outcome::timed_waits : continuation {
  timed_waits() noexcept
      : continuation{[](continuation& this_one) noexcept {
          auto& come = static_cast<timed_waits&>(this_one).has_come;
          come.store(1, std::memory_order_release);  // pairs with the acquire in wait_until()
          futex::wake(come, INT_MAX);                // takes its address only
        }} {}

  std::atomic<std::uint32_t> has_come{0};
};

shared_outcome::~shared_outcome() {
  delete timed_.load(std::memory_order_relaxed);
}

shared_outcome::timed_waits& shared_outcome::waits_for_a_time() {
  // Acquire: pairs with the exchange of the thread that has made them.
  if (auto* const made = timed_.load(std::memory_order_acquire)) return *made;
  auto mine = std::make_unique<timed_waits>();
  timed_waits* before = nullptr;
  if (!timed_.compare_exchange_strong(before, mine.get(), std::memory_order_acq_rel)) return *before;
  auto& made = *mine.release();
  if (!when_ended(made)) made.run(made);
  return made;
}

bool shared_outcome::wait_until(std::chrono::steady_clock::time_point deadline) {
  if (ended()) return true;
  expect_not_lost();
  const auto& word = waits_for_a_time().has_come;
  return blocking([&] {
    const auto has_come = [&] { return word.load(std::memory_order_acquire) != 0; };
    while (!has_come()) {
      if (!futex::wait_until(word, 0, deadline)) return has_come();
    }
    return true;
  });
}

}  // namespace teff::detail
