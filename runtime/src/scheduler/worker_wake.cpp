// How a worker begins and ends its search for work, and wakes others (parking.md).
#include "scheduler/runtime_registry.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

namespace teff::detail {

void worker::ask_everyone() noexcept {
  const look here(*this);
  for (auto* const other : victims) other->deque().ask();
}

void worker::start_search(bool& searching) noexcept {
  all_.gate().start_search();
  searching = true;
  idle_.start();
}

void worker::stop_search(bool& searching) noexcept {
  if (!searching) return;
  searching = false;
  const auto began = idle_.stop();
  if (ring_ != nullptr) record(*ring_, event_kind::searching, nullptr, began);
  if (all_.gate().stop_search()) hand_over();
}

// No worker searches any more, and others sleep. Work that becomes public from now on wakes a sleeper; this
// looks for work that has become public before. And a sleeper has to wake when a source is to be polled.
void worker::hand_over() noexcept {
  ask_everyone();
  if ((sees_work() || !all_.gate().somebody_wakes_by(next_poll())) && all_.gate().wake_any(index_))
    woke_one();
}

// If more are to be woken, the next push shares at once: those that sleep don't ask.
void worker::published() noexcept {
  ++shares_;
  if (all_.gate().notify_work(index_)) {
    woke_one();
    if (all_.gate().needs_a_wake()) self.ask();
  } else {
    all_.count_on_searcher();
  }
}

// Called between two blocks of a loop.
bool worker::shares_without_wake() noexcept {
  constexpr unsigned blocks_that_pay_a_wake = 128;
  if (!all_.gate().anyone_searches() && ++kept_blocks_ < blocks_that_pay_a_wake) return false;
  kept_blocks_ = 0;
  return true;
}

void worker::woke_one() noexcept {
  ++wakes_;
  record_instant(event_kind::wake);
}

void worker::record_instant(event_kind what, const worker* other) noexcept {
  if (ring_ == nullptr) return;
  const auto now = ticks::now();
  ring_->add({.began = now,
              .ended = now,
              .name = nullptr,
              .other = other == nullptr ? 0 : other->index_,
              .what = what});
}

void worker::wake_owner(const task_slot* slot) noexcept {
  const auto* owner = last_victim_;
  if (owner == nullptr || !owner->slots_.owns(slot)) {
    if (slots_.owns(slot)) return;
    owner = nullptr;
    for (const auto* const other : victims) {
      if (other->slots_.owns(slot)) owner = other;
    }
  }
  if (owner == nullptr) return runtime_registry::wake_owner(slot);
  if (all_.gate().wake(owner->index_)) woke_one();
}

}  // namespace teff::detail
