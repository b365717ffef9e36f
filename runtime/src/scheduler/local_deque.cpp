// The owner of a deque answers thieves and looks at requests.
#include <teff/detail/platform/relax.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/detail/scheduler/waiting.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

namespace teff::detail {

bool share() noexcept {
  if (self.asked_to_share() && self.share()) worker::current()->published();
  look_outside();
  if (self.ring == nullptr) return false;
  record_spawn(*self.ring);
  return true;
}

void answer_thieves() noexcept {
  if (!self.asked_to_share()) return;
  if (self.share()) {
    worker::current()->published();
  } else if (self.has_public()) {
    self.withdraw();
  }
  // The request may have been for what came from outside: the next push looks there.
  if (auto* const me = worker::current(); me != nullptr && !me->all().requests().empty()) self.ask();
}

bool take_back(task_slot* slot) noexcept {
  static_cast<void>(worker::current_or_end());
  if (!self.retake(slot)) return false;
  answer_thieves();
  return true;
}

bool settle(task_slot* slot) noexcept {
  if (take_back(slot)) return true;
  const auto has_ended = [slot] {
    // seq_cst: the last look before sleeping, against run_stolen(); acquire: the result.
    const auto state = slot->state.load(std::memory_order_seq_cst);
    return state == slot_state::ended || state == slot_state::failed;
  };
  // A thief that got half of the work is due to end about now. The lines that a search looks at are those
  // that the thief uses.
  constexpr int looks = 64;
  for (int i = 0; i < looks; ++i) {
    if (has_ended()) return false;
    relax();
  }
  wait_until(has_ended, {.how = waits::for_its_tasks, .slot = slot});
  return false;
}

void reclaim(task_slot* slot) noexcept {
  slot->state.store(slot_state::idle, std::memory_order_relaxed);
  if ((slot->exceptions & made_outside) == 0) self.reclaim(slot);
}

}  // namespace teff::detail
