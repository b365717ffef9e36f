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

void shared_outcome::expect_not_lost() const {
  if (is_lost()) throw forked_process();
}

void shared_outcome::wait() {
  if (ended()) return;
  expect_not_lost();
  help();
  if (ended()) return;
  std::optional<blocked_activities> blocked;
  if (auto* const me = worker::current()) {
    blocked.emplace(me->activities(), this);
    if (blocked->for_ever()) {
      throw future_waits_for_itself(
          "teff::future: waited for where that would never end: its task, or one that it waits for, waits "
          "for the task that waits");
    }
  }
  waiting_thread me;
  if (when_ended(me)) wait_until_set(me.over, me.who);
}

}  // namespace teff::detail
