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
  const auto wakes = limit == may_run::everything ? wake_for::work : wake_for::name;
  const bool for_sources = limit == may_run::sources || limit == may_run::own_work;
  if (for_sources) all_.begin_sleep_for_sources(sleeps_for_sources_);
  if (limit != may_run::everything) all_.requests().begin_sleep();
  if (gate.prepare_sleep(word_, wakes)) hand_over();
  auto by = woken_by::another;
  doorbells bells;
  const bool listens = limit == may_run::awaited_thief || listen(bells);
  if (!listens || finds_reason_to_stay_awake(mine)) {
    gate.cancel_sleep(word_, wakes);
  } else {
    by = sleep(wakes, limit == may_run::awaited_thief ? futex::never : next_poll(), mine.where, bells);
  }
  if (limit != may_run::everything) all_.requests().end_sleep();
  if (for_sources) all_.end_sleep_for_sources(sleeps_for_sources_);
  if (by == woken_by::time_or_bell) poll_sources(search_pace::clock::now());
  // A worker that woke to poll looks once and sleeps again.
  constexpr auto none = search_pace::clock::duration::zero();
  mine.pace.begin(by == woken_by::another ? patience_.least() : none,
                  by == woken_by::another ? patience_.now() : none);
  keep_to_own_processor();
}

// The last look before it sleeps.
bool worker::finds_reason_to_stay_awake(const waiting& mine) noexcept {
  const auto limit = mine.limit;
  // A worker that pushes from now on shares at once. This look sees the tasks that were shared before.
  if (limit == may_run::everything) ask_everyone();
  // One fence for both. From here on, a thread that brings a source something sees that this worker sleeps,
  // or is seen by this look. So is a worker that has pushed and did not see that it is asked.
  if (limit == may_run::everything || (limit != may_run::awaited_thief && !all_.sources().empty()))
    all_.fences().everywhere();
  if (mine.done()) return true;
  if (mine.awaited.from != nullptr && mine.awaited.from->sees_work(index_)) return true;
  if (limit == may_run::everything) return sees_work() || expose_anything();
  auto* const thief = thief_of(mine.awaited.slot);
  const look here(*this);
  return (thief != nullptr && thief->deque().has_public()) ||
         (limit != may_run::awaited_thief && sees_source_work(limit));
}

worker::woken_by worker::sleep(wake_for what, polled_source::poll_time deadline, waits where,
                               const doorbells& also) noexcept {
  auto& gate = all_.gate();
  ++parks_;
  const auto sleeps_from = search_pace::clock::now();
  parked_.start();
  bool by_itself = false;
  if (where == waits::at_top && index_ == 0) {
    by_itself = gate.sleep_off_seat(deadline, also);
    self.invite();  // a thief that asked while a guest was the worker asked the guest's deque
  } else if (deadline == futex::never) {
    gate.sleep(word_);
  } else {
    by_itself = gate.sleep_until(word_, what, deadline, also);
  }
  const auto began = parked_.stop();
  if (ring_ != nullptr) record(*ring_, event_kind::parked, nullptr, began);
  if (by_itself) {
    patience_.woke();
    return woken_by::time_or_bell;
  }
  patience_.was_woken(search_pace::clock::now() - sleeps_from);
  return woken_by::another;
}

bool worker::sees_source_work(may_run limit) noexcept {
  if (!inbox_.empty()) return true;
  return all_.sources().any_of(index_, next_source_, [&](source& each) { return sees_work_of(each, limit); });
}

bool worker::sees_work_of(source& each, may_run limit) noexcept {
  return limit == may_run::own_work ? each.sees_own_work(index_) : each.sees_work(index_);
}

bool worker::sees_work() noexcept {
  if (all_.has_work_from_outside() || sees_source_work(may_run::everything)) return true;
  const look here(*this);
  return std::any_of(victims.begin(), victims.end(),
                     [](const worker* other) { return other->deque().has_public(); });
}

// A hint, which costs less than exposing it.
bool worker::sees_private_work() noexcept {
  const look here(*this);
  return std::any_of(victims.begin(), victims.end(),
                     [](const worker* other) { return other->deque().has_private(); });
}

// The last look of a guest, as finds_reason_to_stay_awake(): whether the worker's own thread has to get up.
// Work that any worker may do is announced as by a thread that has just published it.
bool worker::finds_reason_to_call_home(bool others_idle) noexcept {
  auto& gate = all_.gate();
  ask_everyone();
  if (!all_.sources().empty()) {
    doorbells bells;  // those that the worker's own thread sleeps on, if it is relied on
    if (!listen(bells)) return true;
    gate.promise_again();
    if (!others_idle) all_.fences().everywhere();
    if (!gate.anyone_searches() && !gate.somebody_wakes_by(next_poll())) return true;
  }
  if (sees_source_work(may_run::own_work)) return true;
  if (gate.needs_a_wake() && (sees_work() || sees_private_work()) && gate.wake_any(index_)) woke_one();
  return false;
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
