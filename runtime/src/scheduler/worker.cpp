// The life of a worker's thread, and of a thread from outside that is the worker for a time (guests.md).
#include "scheduler/worker.hpp"

#include <teff/detail/platform/relax.hpp>
#include <teff/detail/scheduler/core_share.hpp>

#include "platform/stack_overflow.hpp"
#include "scheduler/scheduler.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace teff::detail {

constinit const frame outermost_frame;
constinit thread_local local_deque self;
constinit thread_local core_share<> this_core;

worker::worker(scheduler& all, unsigned index, std::size_t stack_size, trace_ring* ring)
    : all_(all),
      index_(index),
      word_(index),
      deque_(all.fences(), stack_size, ring),
      stack_(stack_size),
      sources_(all.sources(), index),
      log_(ring),
      patience_(all.settings().spin, all.longest_spin()),
      random_(0x9e3779b97f4a7c15U * (index + 1)) {}

void worker::main() noexcept {
  const stack_overflow_report reports(("worker " + std::to_string(index_)).c_str(), worker_stack::more_stack);
  ::prctl(PR_SET_NAME,
          ("teff worker " + std::to_string(index_)).c_str());  // which cuts it after 15 characters
  this_thread.is_worker = this;
  stack_.begin();
  deque_.open_here();
  deque_.begin(true, victims.empty());
  all_.arrive(index_);
  wait_until([this] { return all_.stopping(); }, {.how = waits::at_top});
  all_.depart();
}

void worker::begin_guest() noexcept {
  this_thread.is_worker = this;
  word_ = all_.gate().word_of_guest();
  deque_.begin(false, victims.empty());
}

bool worker::run_as_guest(job& job) noexcept {
  if (!stack_.has_one_for_guests(index_)) return false;
  log_.begin_call();
  publish_capacity(this_core.capacity());
  stack_.call_as_guest([&] {
    run_job(job);
    current_or_end().tell_scope_of_ended_tasks();
  });
  publish_capacity(1);  // the worker's own thread tells what it measures itself
  log_.end_call();
  return true;
}

void worker::publish_capacity(double capacity) noexcept {
  log_.tell_capacity(capacity);
  // Relaxed: a hint.
  thread_on_shared_core_.store(capacity < 1 ? ::gettid() : 0, std::memory_order_relaxed);
}

void worker::hand_over_time() noexcept {
  sources_.rise();  // before another worker goes to sleep and relies on the bell
  if (!all_.gate().somebody_wakes_by(sources_.next_poll()) && all_.gate().wake_any(index_)) log_.woke_one();
}

void worker::end_guest() noexcept {
  auto& gate = all_.gate();
  deque_.give_back();
  bool others_idle = gate.prepare_leave();
  // A worker that has just ended something searches in a microsecond or two; a fence on every core takes
  // longer.
  constexpr int looks = 256;
  for (int each = 0; each < looks && !others_idle && !all_.sources().empty(); ++each) {
    relax();
    others_idle = gate.others_are_idle();
  }
  const bool calls = guests_last_look(others_idle);
  if (calls) log_.woke_one();
  self.suspend();
  worker_deque::end();
  this_thread.is_worker = nullptr;
  word_ = index_;
  gate.leave(calls);
}

bool worker::begin_child() noexcept {
  if (current() == nullptr) return false;
  for (const auto* each = std::exchange(self.frame, &outermost_frame); each != nullptr; each = each->outer) {
    if (each->state != nullptr) static_cast<source*>(const_cast<void*>(each->of))->begin_child();
  }
  self.innermost = nullptr;
  self.abandon();
  worker_deque::end();
  return true;
}

worker& worker::current_or_end() noexcept {
  auto* const me = current();
  if (me == nullptr) [[unlikely]]
    end_child_process();
  return *me;
}

counters worker::counted() const noexcept {
  return log_.read(all_.scale().nanoseconds_per_tick());
}

worker_id this_worker() noexcept {
  const auto* const me = worker::current();
  if (me == nullptr) return {};
  return {&me->all(), me->index()};
}

}  // namespace teff::detail
