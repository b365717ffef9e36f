#include <teff/detail/platform/processor_clock.hpp>
#include <teff/detail/platform/relax.hpp>
#include <teff/detail/replay/replay_core.hpp>
#include <teff/detail/scheduler/core_share.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/error.hpp>

#include "scheduler/blocked_activities.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"

#include <algorithm>
#include <utility>

namespace teff::detail {

replay_core::replay_core(scheduler& runtime, replay_plan plan, bool bound)
    : runtime_(runtime),
      plan_(std::move(plan)),
      is_bound_(bound),
      lists_(plan_.parts().size()),
      jobs_(plan_.parts().size()) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i].run = [](job& self) noexcept {
      const auto& me = static_cast<part_job&>(self);
      me.core->run_part(me.part);
    };
    jobs_[i].core = this;
    jobs_[i].part = i;
  }
  gang_.run = [](job& self) noexcept { static_cast<own_gang&>(self).core->start(); };
  gang_.core = this;
}

void replay_core::replay(part_runner runner) {
  const auto at = this_worker();
  const blocked_activities blocked(gang_, runtime_.gangs());
  if (blocked.for_ever())
    throw misuse(
        "teff::recording::replay: called where it would wait for ever: its own tasks, or those of the replay "
        "that the runtime runs now, wait for this very call");
  if (jobs_.empty()) return;
  runner_ = std::move(runner);
  const bool inside = at.runtime == &runtime_;
  ended_.begin(inside ? at : worker_id{});
  if (inside) {
    submit(runtime_, gang_);
    ended_.wait();
  } else {
    wait_for_end_outside(at.runtime == nullptr);
  }
  failed_.store(false, std::memory_order_relaxed);
  if (auto error = std::exchange(error_, nullptr)) std::rethrow_exception(std::move(error));
}

// The calling thread runs a part itself if it can.
void replay_core::wait_for_end_outside(bool may_take_part) {
  const call_in_progress call(runtime_);
  const auto begin = [this] { submit(runtime_, gang_); };
  may_take_part = may_take_part && parts().front().worker == 0;
  if (!may_take_part || !take_part_as_guest(runtime_, begin, [this] { return ended_.has_come(); })) begin();
  ended_.wait();
}

void replay_core::start() noexcept {
  plan_.reset();
  const auto parts = jobs_.size();
  for (std::size_t i = 0; i < parts; ++i) lists_[i].reset(static_cast<std::uint32_t>(i));
  running_.store(parts, std::memory_order_relaxed);
  // The recording may be gone as soon as the last part is submitted.
  for (std::size_t i = 0; i < parts; ++i) submit_to(runtime_, plan_.parts()[i].worker, jobs_[i]);
}

void replay_core::run_part(std::size_t part) noexcept {
  {
    const within_activity enclosing(worker::current()->activities(),
                                    {.of = static_cast<const gang*>(&gang_)});
    runner_(part);
  }
  if (worker::current() == nullptr) end_child_process();
  // Release: all that this part did. Acquire: all that every part did, for the part that ends last.
  if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) end();
}

void replay_core::end() noexcept {
  end_gang(runtime_);
  ended_.come();  // the recording may be gone after it
}

void replay_core::fail(std::exception_ptr error) noexcept {
  if (runtime_.is_of_parent()) return failed_.store(true, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
  }
  failed_.store(true, std::memory_order_release);
  wake_all();
}

void replay_core::wake_all() const noexcept {
  for (const auto& part : plan_.parts()) published_to(runtime_, part.worker);
}

const replay_wait* replay_core::awaited_by(std::size_t list) const noexcept {
  const auto& part = parts()[list];
  const auto [iteration, task] = lists_[list].next();
  for (auto wait = part.begin_of(task).waits_end; wait < part.tasks[task].waits_end; ++wait)
    if (!part.waits[wait].reached(iteration + 1)) return &part.waits[wait];
  return nullptr;
}

// ---- A worker ----

bool replay_turn::take_list() noexcept {
  static_cast<void>(worker::current_or_end());
  list_ = none;
  if (!finds_list()) wait_until([this] { return finds_list(); }, {.how = waits::blocked});
  if (list_ != own_) tasks_before_look_ = 1;
  return list_ != none;
}

// Takes its own list, if that can go on. Else the list that its own one waits for, or the list that that one
// waits for, and so on. True if it holds a list, and if there is nothing to wait for any more.
bool replay_turn::finds_list() noexcept {
  if (list_ != none || core_.failed() || core_.lists_[own_].next().iteration == times_) return true;
  auto found = own_;
  for (std::size_t hops = 0; const auto* const wait = core_.awaited_by(found); ++hops) {
    if (core_.is_bound_) return false;
    found = wait->producer;
    // The positions change meanwhile, so the worker might go round for ever.
    if (core_.lists_[found].is_held() || hops == core_.lists_.size()) return false;
  }
  auto& list = core_.lists_[found];
  if (list.take(own_, found == own_ || stands(found))) {
    list_ = found;
    return true;
  }
  if (found == own_) list.want();
  return false;
}

// Whether a list that could go on has stood still for so long that its worker does not seem to come.
bool replay_turn::stands(std::uint32_t list) noexcept {
  constexpr std::int64_t patience = 20'000;  // nanoseconds
  const auto now = processor_clock::now();
  const auto position = core_.lists_[list].next();
  if (watched_ == list && watched_position_ == position)
    return now - watched_since_ >= processor_clock::in(patience);
  watched_ = list;
  watched_position_ = position;
  watched_since_ = now;
  return false;
}

void replay_turn::leave(replay_position next) noexcept {
  auto& list = core_.lists_[list_];
  const auto to = gives_way_ ? replay_list<>::any_worker : list.is_wanted() ? list_ : own_;
  list.leave(next, to);
  if (list_ != own_) published_to(core_.runtime_, core_.parts()[list_].worker);
  if (!std::exchange(gives_way_, false)) return;
  core_.wake_all();
  this_core.give_way();
}

bool replay_turn::comes_soon(const replay_wait& wait, std::uint64_t iteration) const noexcept {
  if (list_ != own_ || core_.lists_[wait.producer].is_left_to(own_)) return false;
  const traced_span span(event_kind::waiting, nullptr);
  constexpr unsigned most_looks = 64;
  for (unsigned looks = 0; looks < most_looks; ++looks) {
    relax();
    if (wait.reached(iteration) || core_.failed()) return true;
  }
  return false;
}

// A worker gives its core away between two tasks, if another worker is there to run its list meanwhile.
bool replay_turn::look_around() noexcept {
  // Relaxed: a hint.
  const bool has_others = !core_.is_bound_ && core_.running_.load(std::memory_order_relaxed) > 1;
  gives_way_ = has_others && this_core.is_time_to_give_way();
  const bool is_own = list_ == own_;
  tasks_before_look_ = is_own && !(has_others && this_core.is_shared()) ? tasks_between_looks : 1;
  return !gives_way_ && (is_own || !(core_.lists_[list_].is_wanted() || core_.awaited_by(own_) == nullptr));
}

}  // namespace teff::detail
