#include <teff/detail/replay/replay_core.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>

#include "scheduler/blocked_activities.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace teff::detail {

replay_core::replay_core(scheduler& runtime, replay_plan plan)
    : runtime_(runtime), plan_(std::move(plan)), jobs_(plan_.parts().size()) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i].run = [](job& self) noexcept {
      const auto& me = static_cast<part_job&>(self);
      me.core->run_part(me.part);
    };
    jobs_[i].core = this;
    jobs_[i].part = i;
    workers_.push_back(plan_.parts()[i].worker);
  }
  gang_.start = [](gang& self) noexcept { static_cast<own_gang&>(self).core->start(); };
  gang_.core = this;
}

void replay_core::replay(part_runner runner) {
  const auto at = here();
  const blocked_activities blocked(gang_, runtime_.gangs());
  if (blocked.for_ever())
    throw misuse(
        "teff::recording::replay: called where it would wait for ever: its own tasks, or those of the replay "
        "that the runtime runs now, wait for this very call");
  if (jobs_.empty()) return;
  runner_ = runner;
  ended_.store(0, std::memory_order_relaxed);
  waiter_ = at.runtime == &runtime_ ? at : place{};
  if (waiter_.runtime == nullptr) {
    wait_for_end_outside(at.runtime == nullptr);
  } else {
    submit(runtime_, gang_);
    wait_until_set(ended_, waiter_);
  }
  failed_.store(false, std::memory_order_relaxed);
  if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(std::move(error));
}

bool replay_core::is_over(const void* core) noexcept {
  // Acquire: all that the parts did.
  return static_cast<const replay_core*>(core)->ended_.load(std::memory_order_acquire) == has_ended;
}

// The calling thread runs a part itself if it can.
void replay_core::wait_for_end_outside(bool may_take_part) {
  const call_in_progress call(runtime_);
  const auto begin_as_guest = [](void* core) noexcept {
    auto& me = *static_cast<replay_core*>(core);
    submit(me.runtime_, me.gang_);
  };
  may_take_part = may_take_part && std::ranges::count(workers_, 0U) != 0;
  if (!may_take_part || !take_part_as_guest(runtime_, {begin_as_guest, is_over, this}))
    submit(runtime_, gang_);
  if (!is_over(this)) wait_until_set(ended_, waiter_);
}

void replay_core::start() noexcept {
  plan_.reset();
  const auto parts = jobs_.size();
  running_.store(parts, std::memory_order_relaxed);
  // The recording may be gone as soon as the last part is submitted.
  for (std::size_t i = 0; i < parts; ++i) submit_to(runtime_, plan_.parts()[i].worker, jobs_[i]);
}

void replay_core::run_part(std::size_t part) noexcept {
  {
    const within_activity here(worker::current()->activities(), {.of = static_cast<const gang*>(&gang_)});
    runner_.run(runner_.what, part);
  }
  if (worker::current() == nullptr) end_child_process();
  // Release: all that this part did. Acquire: all that every part did, for the part that ends last.
  if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
}

void replay_core::end() noexcept {
  end_gang(runtime_);
  set_and_wake(ended_, waiter_);  // the recording may be gone after it
}

void replay_core::fail(std::exception_ptr error) noexcept {
  if (runtime_.is_of_parent()) return failed_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  failed_.store(true, std::memory_order_release);
  for (const auto& part : plan_.parts()) published_to(runtime_, part.worker);
}

bool replay_core::wait_for(const replay_wait& wait, std::uint64_t iteration) const noexcept {
  const traced_span span(event_kind::waiting, nullptr);
  struct awaited {
    const replay_core& core;
    const replay_wait& wait;
    std::uint64_t iteration;
  };
  const awaited awaited{*this, wait, iteration};
  block_until(
      [](const void* what) {
        const auto& me = *static_cast<const struct awaited*>(what);
        return me.wait.reached(me.iteration) || me.core.failed();
      },
      &awaited);
  return !failed();
}

}  // namespace teff::detail
