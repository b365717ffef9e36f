// The threads of a parallel region (README.md: the end of a region). A worker's runtime says late or never
// that the region ended. So the master closes the accounts of its workers when the region ends. Until the
// next region begins, a worker touches its seat only to leave it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "file.hpp"
#include "seats.hpp"

namespace teff::collect {

class team {
 public:
  // The master's thread begins the region. `address` is the region's site; `library`, an address in the
  // runtime.
  team(seat& master, const void* address, const void* library)
      : master_(master),
        address_(address),
        outer_(master.current),
        before_(master.doing()),
        outer_runtime_(master.runtime) {
    {
      const growing held;
      runtime_ = head() == nullptr ? 0 : module_of(library);
    }
    master.enter(state::runtime);
    begin_ = master.since();
  }

  // A thread of the team begins its part of the region. False if nothing is kept of it.
  bool begin_body() {
    seat* one = here();
    if (one == nullptr) return false;
    if (one != &master_) {
      if (one->current != nullptr) return false;  // a region that did not end, as after a fork
      one->begin_worker(begin_);
      // Release: pairs with the load in end(). A failed exchange reads the list anew, and follows no pointer.
      one->next_worker = workers_.load(std::memory_order_relaxed);
      while (!workers_.compare_exchange_weak(one->next_worker, one, std::memory_order_release,
                                             std::memory_order_relaxed)) {
      }
      one->member.store(membership::worker,
                        std::memory_order_relaxed);  // the runtime's barrier orders it before end()
    }
    one->runtime = runtime_;
    return one->begin_region(address_);
  }

  // The master's thread, after the region: its workers have ended their parts, and the master knows by the
  // runtime's barrier.
  void end() {
    const auto now = ticks();
    seat* const workers = workers_.load(std::memory_order_acquire);  // pairs with begin_body()
    // Relaxed: the numbers alone are used.
    auto last_end = master_.last_end.load(std::memory_order_relaxed);
    for (const seat* one = workers; one != nullptr; one = one->next_worker) {
      last_end = std::max(last_end, one->last_end.load(std::memory_order_relaxed));
    }
    master_.end_wait(before_, now, last_end);
    master_.end_bodies(outer_);
    master_.runtime = outer_runtime_;
    for (seat* next = workers; next != nullptr;) {
      seat& one = *next;
      next = one.next_worker;  // now: the seat may have another thread soon
      one.end_wait(state::serial, now, last_end);
      one.end_bodies(nullptr);
      // Release and acquire: pairs with the exchange in leave_seat().
      if (one.member.exchange(membership::outside, std::memory_order_acq_rel) == membership::leaving)
        vacate(one, now);
    }
    note_clock();
  }

 private:
  seat& master_;
  const void* address_;
  activation* outer_;  // of the master, as are the next two
  state before_;
  std::uint32_t outer_runtime_;
  std::uint32_t runtime_;
  std::uint64_t begin_;
  std::atomic<seat*> workers_{nullptr};
};

}  // namespace teff::collect
