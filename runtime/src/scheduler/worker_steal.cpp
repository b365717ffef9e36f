// Where a worker finds something to do, and how it runs that.
#include <teff/detail/scheduler/release_observer.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <cstddef>
#include <utility>

namespace teff::detail {

namespace {

// What the worker runs is another's: the body that waits below does not hear what it fulfils.
class unheard {
 public:
  unheard() noexcept = default;
  unheard(const unheard&) = delete;
  unheard& operator=(const unheard&) = delete;
  ~unheard() { listening = outer_; }

 private:
  const listened_body outer_ = std::exchange(listening, {});
};

// Nor does it spawn into a scope of what waits below.
class on_its_own : unheard {
 public:
  on_its_own() noexcept = default;
  ~on_its_own() { self.innermost = outer_; }

 private:
  scope_state* const outer_ = std::exchange(self.innermost, nullptr);
};

}  // namespace

worker* worker::thief_of(const task_slot* awaited) const noexcept {
  if (awaited == nullptr) return nullptr;
  const auto state = awaited->state.load(std::memory_order_relaxed);
  return state < slot_state::first_thief ? nullptr : all_.workers()[state - slot_state::first_thief].get();
}

void worker::refresh_sources() noexcept {
  const auto version = all_.sources().version();
  if (version == sources_version_) return;
  sources_ = all_.sources().list();
  sources_version_ = version;
}

// What they run may look here again, and find other sources.
bool worker::run_sources(bool& searching) noexcept {
  refresh_sources();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    auto& each = *sources_[i];
    if (searching) {
      if (!each.sees_work(index_)) continue;
      stop_search(searching);
    }
    stolen_.tell();
    const on_its_own here;
    const running_errand turn(*this, {&each});
    if (each.run(index_)) return true;
  }
  return false;
}

bool worker::run_something(helping with, const task_slot* awaited, bool& searching) noexcept {
  if (with != helping::its_thief && run_sources(searching)) return true;
  worker* victim = thief_of(awaited);
  task_slot* slot = victim == nullptr ? nullptr : steal_from(*victim);
  if (slot == nullptr && with != helping::its_thief && run_job_of(inbox_, searching)) return true;
  if (slot == nullptr && with == helping::everything && run_job_of(all_.jobs(), searching)) return true;
  if (slot == nullptr && with != helping::its_thief && has_room_for_foreign_tasks())
    slot = steal_from_anyone(victim);
  if (slot == nullptr) return false;
  stop_search(searching);
  record_instant(activity::steal, victim);
  run_stolen(*victim, *slot);
  return true;
}

bool worker::run_job_of(job_queue& queue, bool& searching) noexcept {
  auto* const job = queue.pop();
  if (job == nullptr) return false;
  stop_search(searching);
  run_job(*job);
  return true;
}

task_slot* worker::steal_from_anyone(worker*& victim) noexcept {
  task_slot* slot = nullptr;
  if (victims.empty()) return slot;
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  victims.look_at_each(random_, [&](worker* other) {
    victim = other;
    return (slot = steal_from(*victim)) != nullptr;
  });
  return slot;
}

// Within an errand only what is a piece of one (README, "Waiting within a graph"). Not even the thief of the
// awaited slot is exempt: what that had in its deque before is the oldest there.
task_slot* worker::steal_from(worker& victim) noexcept {
  const bool within = errands_.any();
  auto* const slot = victim.deque().steal(
      [&](const task_slot* oldest) { return !within || victim.errands().of_slot(oldest).of != nullptr; });
  if (slot == nullptr) {
    ++failed_steals_;
  } else {
    ++steals_;
  }
  return slot;
}

// What it spawned may be run here after it, and is not to be listened to either.
void worker::run_stolen(worker& victim, task_slot& slot) noexcept {
  // Relaxed: only a hint, where the owner looks for work while it waits.
  slot.state.store(slot_state::first_thief + index_, std::memory_order_relaxed);
  last_victim_ = &victim;
  const unheard here;
  if (const auto of = victim.errands().of_slot(&slot); of.of != nullptr) {
    const running_errand piece(*this, of);
    stolen_.run(slot);
  } else {
    stolen_.run(slot);
  }
}

void worker::run_job(job& job) noexcept {
  ++jobs_;
  stolen_.tell();
  const on_its_own here;
  job.run(job);
}

}  // namespace teff::detail
