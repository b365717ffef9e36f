// Where a worker finds something to do, and how it runs that.
#include <teff/detail/fulfil_listener.hpp>

#include "scheduler.hpp"
#include "worker.hpp"

#include <cstddef>
#include <utility>

namespace teff::detail {

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
    auto* const outer = std::exchange(self.innermost, nullptr);
    const auto outer_listening = std::exchange(listening, {});
    const bool did_something = each.run(index_);
    listening = outer_listening;
    self.innermost = outer;
    if (did_something) return true;
  }
  return false;
}

bool worker::run_something(bool open, const task_slot* awaited, bool& searching) noexcept {
  if (open && run_sources(searching)) return true;
  worker* victim = thief_of(awaited);
  task_slot* slot = victim == nullptr ? nullptr : steal_from(*victim);
  if (slot == nullptr && open) {
    for (auto* const queue : {&inbox_, &all_.jobs()}) {
      if (auto* const job = queue->pop()) {
        stop_search(searching);
        run_job(*job);
        return true;
      }
    }
    if (victims.empty()) return false;
    // From a random one on, so that thieves spread.
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    const auto count = victims.size();
    for (std::size_t i = 0, at = random_ % count; slot == nullptr && i < count;
         ++i, at = at + 1 == count ? 0 : at + 1) {
      victim = victims[at];
      slot = steal_from(*victim);
    }
  }
  if (slot == nullptr) return false;
  stop_search(searching);
  record_instant(activity::steal, victim);
  run_stolen(*victim, *slot);
  return true;
}

task_slot* worker::steal_from(worker& victim) noexcept {
  auto* const slot = victim.deque().steal();
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
  const auto outer = std::exchange(listening, {});
  stolen_.run(slot);
  listening = outer;
}

void worker::run_job(job& job) noexcept {
  ++jobs_;
  stolen_.tell();
  auto* const outer = std::exchange(self.innermost, nullptr);
  const auto outer_listening = std::exchange(listening, {});
  job.run(job);
  listening = outer_listening;
  self.innermost = outer;
}

}  // namespace teff::detail
