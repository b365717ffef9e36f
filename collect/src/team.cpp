#include "team.hpp"

#include <algorithm>

#include "file.hpp"

namespace teff::collect {

namespace {

// Ends the bodies that the thread is in, up to the one that the region began in.
void end_bodies(seat& one, const activation* outer) {
  while (one.current != nullptr && one.current != outer) {
    activation& ended = *one.current;
    one.account(ended);
    one.current = ended.outer;
    one.give(ended);
  }
}

} // namespace

team::team(seat& master, const void* address, std::uint32_t runtime)
    : master_(master), address_(address), runtime_(runtime), outer_(master.current), before_(master.doing()),
      outer_runtime_(master.runtime) {
  master.enter(state::runtime);
  begin_ = master.since();
}

bool team::begin_body() {
  seat* one = here();
  if (one == nullptr) return false;
  if (one != &master_) {
    if (one->current != nullptr) return false; // a region that did not end, as after a fork
    one->begin_worker(begin_);
    // Release and relaxed: begin_body() pushes, and the master reads the list after the runtime's barrier alone.
    one->next_worker = workers_.load(std::memory_order_relaxed);
    while (!workers_.compare_exchange_weak(one->next_worker, one, std::memory_order_release, std::memory_order_relaxed)) {
    }
    one->member.store(membership::worker, std::memory_order_relaxed); // the runtime's barrier orders it before close_workers()
  }
  return begin_body(*one);
}

bool team::begin_body(seat& one) {
  activation* body = one.take();
  if (body == nullptr) return false;
  body->what = kind::region;
  body->address = address_;
  body->outer = one.current;
  body->begun = body->nested = true;
  one.enter(state::body);
  one.current = body;
  one.runtime = runtime_;
  one.add_region();
  return true;
}

void team::end() {
  const auto now = ticks();
  const auto last_end = last_end_anywhere();
  master_.end_wait(before_, now, last_end);
  end_bodies(master_, outer_);
  master_.current = outer_;
  master_.runtime = outer_runtime_;
  close_workers(now, last_end);
  note_clock();
}

void team::close_workers(std::uint64_t now, std::uint64_t last_end) {
  // Acquire: pairs with the pushes of begin_body().
  seat* next = workers_.load(std::memory_order_acquire);
  while (next != nullptr) {
    seat& one = *next;
    next = one.next_worker;
    one.end_wait(state::serial, now, last_end);
    end_bodies(one, nullptr);
    // Release and acquire: pairs with the exchange in leave_seat().
    if (one.member.exchange(membership::outside, std::memory_order_acq_rel) == membership::leaving) vacate(one, now);
  }
}

} // namespace teff::collect
