// How a worker without work parks: its last look, and its sleep (parking.md).
#include "scheduler/scheduler.hpp"
#include "scheduler/waiting.hpp"
#include "scheduler/worker.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

namespace teff::detail {

// It searches again when this returns.
void worker::park(waiting& mine) noexcept {
  auto& gate = all_.gate();
  const auto limit = mine.limit;
  const bool at_top = mine.where == waits::at_top;
  const auto wakes = limit != may_run::everything ? wake_for::name
                     : at_top                     ? wake_for::work_or_guest
                                                  : wake_for::work;
  const bool for_sources = limit == may_run::sources || limit == may_run::own_work;
  if (for_sources) all_.begin_sleep_for_sources(sleeps_for_sources_);
  if (limit != may_run::everything) all_.requests().begin_sleep();
  const bool for_guest = at_top && gate.prepare_to_give_way(index_);
  if (!for_guest && gate.prepare_sleep(index_, wakes)) hand_over();
  auto by = woken_by::another;
  doorbells bells;
  const bool listens = limit == may_run::awaited_thief || listen(bells);
  if (!listens || finds_reason_to_stay_awake(mine, for_guest)) {
    gate.cancel_sleep(index_, wakes);
  } else {
    const auto until = limit == may_run::awaited_thief ? futex::never : next_poll();
    by = sleep(wakes, until, mine.where, bells);
  }
  if (at_top) gate.offer(index_);
  if (limit != may_run::everything) all_.requests().end_sleep();
  if (for_sources) all_.end_sleep_for_sources(sleeps_for_sources_);
  if (by == woken_by::time_or_bell) poll_sources(search_pace::clock::now());
  // Who woke to poll has nothing to expect but what it finds at once. And a guest that has left goes on,
  // maybe on this core.
  constexpr auto none = search_pace::clock::duration::zero();
  mine.pace.begin(by == woken_by::another ? patience_.least() : none,
                  by == woken_by::time_or_bell ? none : patience_.now());
}

// The last look before it sleeps. `for_guest`: somebody waits for it to end, and will do what is left to him.
bool worker::finds_reason_to_stay_awake(const waiting& mine, bool for_guest) noexcept {
  const auto limit = mine.limit;
  // Whoever pushes from now on shares at once; what was shared before is seen by this look.
  if (limit == may_run::everything) ask_everyone();
  // One fence for both: from here on, whoever brings a source something sees that this worker sleeps, or is
  // seen by this look; and so is whoever has pushed and did not see that he is asked. Not for a guest, who
  // looks when it leaves, or has this worker look again (guests.md).
  if (!for_guest &&
      (limit == may_run::everything || (limit != may_run::awaited_thief && !all_.sources().empty())))
    all_.fences().everywhere();
  if (mine.done()) return true;
  if (mine.awaited.from != nullptr && mine.awaited.from->sees_work(index_)) return true;
  if (for_guest) return sees_work(with_what_is_left::no) || sees_private_work();
  if (limit == may_run::everything) return sees_work() || expose_anything();
  auto* const thief = thief_of(mine.awaited.slot);
  const look here(*this);
  return (thief != nullptr && thief->deque().has_public()) ||
         (limit != may_run::awaited_thief && sees_source_work(limit));
}

woken_by worker::sleep(wake_for what, source::poll_time deadline, waits where,
                       const doorbells& also) noexcept {
  ++parks_;
  const auto sleeps_from = search_pace::clock::now();
  parked_.start();
  auto by = woken_by::another;
  if (where == waits::at_top) {
    by = all_.gate().sleep_vacant(
        index_, [](const auto& home, std::uint32_t expected) { futex_wait(home, expected); }, deadline, also);
    self.invite();  // who asked while a guest was the worker asked the guest's deque
  } else if (deadline == futex::never) {
    all_.gate().sleep(index_);
  } else if (all_.gate().sleep_until(index_, what, deadline, also)) {
    by = woken_by::time_or_bell;
  }
  const auto began = parked_.stop();
  if (ring_ != nullptr) record(*ring_, event_kind::parked, nullptr, began);
  if (by == woken_by::time_or_bell) {
    patience_.woke();
  } else {
    patience_.was_woken(search_pace::clock::now() - sleeps_from);
  }
  return by;
}

bool worker::sees_source_work(may_run limit) noexcept {
  if (!inbox_.empty()) return true;
  return all_.sources().any_of(index_, next_source_, [&](source& each) { return sees_work_of(each, limit); });
}

bool worker::this_one_sees_source_work() noexcept {
  return current()->sees_source_work(may_run::everything);
}

bool worker::sees_inviting_work() noexcept {
  if (!inbox_.empty()) return true;
  return all_.sources().any_of(index_, next_source_, [&](source& each) {
    return sees_work_of(each, may_run::everything) && each.invites(index_);
  });
}

bool worker::sees_work_of(source& each, may_run limit) noexcept {
  return limit == may_run::own_work ? each.sees_own_work(index_) : each.sees_work(index_);
}

// `counts`: whether what sources leave to other threads for a moment is work.
bool worker::sees_work(with_what_is_left counts) noexcept {
  if (all_.has_work_from_outside()) return true;
  if (counts == with_what_is_left::yes ? sees_source_work(may_run::everything) : sees_inviting_work())
    return true;
  const look here(*this);
  for (const auto* const other : victims) {
    if (other->deque().has_public()) return true;
  }
  return false;
}

// A hint, which costs less than exposing it.
bool worker::sees_private_work() noexcept {
  const look here(*this);
  return std::any_of(victims.begin(), victims.end(),
                     [](const worker* other) { return other->deque().has_private(); });
}

// The last look of a guest, as finds_reason_to_stay_awake(): whether the worker's own thread has to get up.
bool worker::finds_reason_to_call_home(bool others_idle) noexcept {
  ask_everyone();
  if (!all_.sources().empty()) {
    doorbells bells;  // those that the worker's own thread sleeps on, if it is relied on
    if (!listen(bells)) return true;
    all_.gate().promise_again(index_);
    if (!others_idle) all_.fences().everywhere();
    if (!all_.gate().somebody_wakes_by(next_poll())) return true;
  }
  return sees_work() || sees_private_work();
}

// Whether another worker has public work, or private work of which half is now public. After a fence on every
// core since it asked, none is missed.
bool worker::expose_anything() noexcept {
  const look here(*this);
  for (auto* const other : victims) {
    auto& deque = other->deque();
    if (deque.has_public()) return true;
    if (!all_.fences().available() || !deque.has_private()) continue;
    ++exposures_;
    if (deque.expose([this] { all_.fences().everywhere(); })) {
      record_instant(event_kind::exposure);
      return true;
    }
  }
  return false;
}

}  // namespace teff::detail
