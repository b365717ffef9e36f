#include <teff/detail/scheduler/process.hpp>
#include <teff/error.hpp>
#include <teff/fork.hpp>

#include <memory>

namespace teff::detail {

slot_outside new_slot_outside() {
  auto slot = std::make_unique<task_slot>();
  slot->state.store(slot_state::outside, std::memory_order_relaxed);
  slot->exceptions = exceptions_in_flight();
  return slot;
}

void expect_outside(const task_slot* slot) {
  if (slot == nullptr) throw misuse("teff::forked: got twice");
  if (slot->state.load(std::memory_order_relaxed) == slot_state::outside) return;
  if (was_forked_by_worker()) throw forked_process();
  throw misuse(
      "teff::forked: got on another worker than the one that forked it, or before a fork, scope or join that "
      "was "
      "made later has ended; the newest comes first");
}

}  // namespace teff::detail
