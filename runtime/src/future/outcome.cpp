#include <teff/detail/future/outcome.hpp>
#include <teff/error.hpp>

#include "scheduler/blocked_activities.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <cstdint>
#include <optional>

namespace teff::detail {

namespace {

// A thread that waits.
struct waiting_thread : continuation {
  waiting_thread() noexcept
      : continuation{[](continuation& this_one) noexcept {
          auto& me = static_cast<waiting_thread&>(this_one);
          set_and_wake(me.over, me.who);
        }} {}
  std::atomic<std::uint32_t> over{0};
  const place who = here();
};

}  // namespace

bool shared_outcome::when_ended(continuation& then) noexcept {
  auto* first = first_.load(std::memory_order_acquire);
  do {
    if (first == over()) return false;
    then.next = first;
    // Release: `then`, to the acquire in end(). Acquire: as in ended().
  } while (!first_.compare_exchange_weak(first, &then, std::memory_order_release, std::memory_order_acquire));
  return true;
}

void shared_outcome::end() noexcept {
  // Release: the value, to ended(). Acquire: what the continuations are, from when_ended().
  auto* each = first_.exchange(over(), std::memory_order_acq_rel);
  continuation* oldest = nullptr;
  while (each != nullptr) {
    auto* const older = each->next;
    each->next = oldest;
    oldest = each;
    each = older;
  }
  while (oldest != nullptr) {
    auto* const next = oldest->next;  // it may be gone once it has run
    oldest->run(*oldest);
    oldest = next;
  }
}

void shared_outcome::wait() {
  if (ended()) return;
  help();
  if (ended()) return;
  std::optional<blocked_activities> blocked;
  if (auto* const me = worker::current()) {
    blocked.emplace(me->activities(), this);
    if (blocked->for_ever()) {
      throw future_waits_for_itself(
          "teff::future: waited for where that would never end: its task, or one that it waits for, waits "
          "for "
          "the task that waits");
    }
  }
  waiting_thread me;
  if (when_ended(me)) wait_until_set(me.over, me.who);
}

}  // namespace teff::detail
