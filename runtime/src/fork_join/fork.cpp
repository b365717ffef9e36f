#include <teff/detail/scheduler/process.hpp>
#include <teff/error.hpp>
#include <teff/fork.hpp>

#include <memory>

namespace teff::detail {

fork_outside new_fork_outside() {
  auto made = std::make_unique<outside_task>(thief<const scope_state>);
  made->exceptions = exceptions_in_flight() | made_outside;
  return made;
}

void expect_outside(const task_slot* slot) {
  if (slot == nullptr) throw misuse("teff::forked: got twice");
  if ((slot->exceptions & made_outside) != 0) return;
  if (was_forked_by_worker()) throw forked_process();
  throw misuse(
      "teff::forked: got on another worker than the one that forked it, or before a fork, scope or join that "
      "was made later has ended; the newest comes first");
}

}  // namespace teff::detail
