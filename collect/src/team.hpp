// The threads of a parallel region (README.md: the end of a region). A worker's runtime says late or never
// that the region ended. So the master closes the accounts of its workers when the region ends, unless they
// have ended or are in another region.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

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
        outer_runtime_(master.runtime),
        outer_led_(master.led) {
    master.enter(state::runtime);  // what follows is within the region: a plain run has none of it
    begin_ = master.since();
    master.led = this;
    runtime_ = find_module(library);
  }

  // A thread of the team begins its part of the region. False if nothing is kept of it.
  bool begin_body() {
    seat* one = here();
    if (one == nullptr || (one != &master_ && !join(*one))) return false;
    one->runtime = runtime_;
    if (one->begin_part(kind::region, address_, state::body) == nullptr) return false;
    one->take_part();
    one->note_open();
    return true;
  }

  // The master's thread, after the region: its workers have ended their parts, and the master knows by the
  // runtime's barrier.
  void end() {
    const auto now = ticks();
    worker* const workers = workers_.load(std::memory_order_acquire);  // pairs with join()
    // Relaxed: the numbers alone are used.
    auto last_end = master_.last_end.load(std::memory_order_relaxed);
    for (const worker* one = workers; one != nullptr; one = one->next) {
      last_end = std::max(last_end, one->thread->last_end.load(std::memory_order_relaxed));
    }
    master_.end_wait(state::runtime, now, last_end);
    master_.end_bodies(outer_);
    master_.runtime = outer_runtime_;
    master_.led = outer_led_;
    note_clock();
    // A worker's part lasts until it is closed, as the master's does: so collecting adds alike to both.
    for (worker* one = workers; one != nullptr;) {
      const worker link = *one;
      master_.give(*new (one) activation);
      one = link.next;
      const std::lock_guard held(link.thread->lock);
      if (link.thread->joined == this) link.thread->end_worker(ticks(), last_end);
    }
    master_.enter(before_);
  }

 private:
  struct worker {
    seat* thread;
    worker* next;
  };

  bool join(seat& one) {
    const std::lock_guard held(one.lock);
    // libomp gives a thread to another team before it tells the master that the region has ended.
    if (one.joined != nullptr) one.end_worker(ticks(), 0);
    if (one.current != nullptr) return false;  // a region that did not end, as after a fork
    activation* memory = one.take();
    if (memory == nullptr) return false;
    static_assert(sizeof(worker) <= sizeof(activation));
    auto* link = new (memory) worker{&one, workers_.load(std::memory_order_relaxed)};
    // Release: pairs with the load in end(). A failed exchange reads the list anew, and follows no pointer.
    while (!workers_.compare_exchange_weak(link->next, link, std::memory_order_release,
                                           std::memory_order_relaxed)) {
    }
    one.begin_worker(begin_);
    one.joined = this;
    return true;
  }

  seat& master_;
  const void* address_;
  activation* outer_;  // of the master, as are the next three
  state before_;
  std::uint32_t outer_runtime_;
  team* outer_led_;
  std::uint32_t runtime_;
  std::uint64_t begin_;
  std::atomic<worker*> workers_{nullptr};
};

}  // namespace teff::collect
