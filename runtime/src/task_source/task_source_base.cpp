#include <teff/detail/exceptions.hpp>
#include <teff/detail/platform/processor_clock.hpp>
#include <teff/detail/task_source/task_source_base.hpp>
#include <teff/error.hpp>

#include "platform/error_text.hpp"
#include "scheduler/blocked_activities.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/search_pace.hpp"

#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

namespace teff::detail {

held_end<>& hold_end_here(const char* call) {
  if (self.frame->state != nullptr) {
    auto* const of = static_cast<source*>(const_cast<void*>(self.frame->of));
    if (held_end<>* const held = static_cast<task_source_base*>(of)->hold_end()) return *held;
  }
  throw misuse(
      std::string(call) +
      ": called outside the body of a task of a flow or task graph: call it there, on the thread of "
      "that body. The task of a recorded graph, of a replay and of a checked flow ends with its body: "
      "run the task without recording, replay or check");
}

std::string name_in_words(std::string name) {
  const auto from = name.find("with T = ");
  if (from == std::string::npos) return "'" + name + "'";
  const auto end = name.find_first_of(";]", from);
  return name.substr(from + 9, end - from - 9);
}

task_source_base::task_source_base(scheduler& runtime, unsigned workers, const char* name)
    : runtime_(runtime), life_(life_of(runtime)), name_(name), accounts_(workers), waiters_(runtime) {}

void task_source_base::refuse_without_runtime(const std::string& call) {
  throw runtime_was_shut_down(
      call + ": its runtime was destroyed; a runtime must outlive its graphs, flows and recordings");
}

bool task_source_base::is_one_of_several() const noexcept {
  return runtime_.sources().may_be_several();
}

void task_source_base::fail(std::exception_ptr error) noexcept {
  if (runtime_.is_of_parent()) return cancelled_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  // Relaxed: a body that is called all the same is no harm.
  cancelled_.store(true, std::memory_order_relaxed);
}

// ---- Rest ----

std::uint64_t task_source_base::tasks_left() const noexcept {
  std::int64_t waiting = 0;
  for (const auto& each : accounts_) waiting += each.waiting.load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(waiting);
}

std::exception_ptr task_source_base::failure() noexcept {
  if (!cancelled()) return nullptr;
  const std::lock_guard lock(mutex_);
  return error_;
}

void task_source_base::tell_of_rest(void (*told)(void* whom) noexcept, void* whom) noexcept {
  told_of_rest_ = told;
  whom_ = whom;
}

void task_source_base::look_for_rest(unsigned worker) noexcept {
  accounts_[worker].order_before_look();
  const bool anybody_waits = waiters_.any();
  if ((!anybody_waits && told_of_rest_ == nullptr) || !at_rest()) return;
  if (told_of_rest_ != nullptr) told_of_rest_(whom_);
  if (anybody_waits) waiters_.wake();
}

void task_source_base::wait_for_rest() {
  const auto at = this_worker();
  if (at.runtime == &runtime_) return wait_for_rest_on(at.index);
  const call_in_progress call(runtime_);
  // Acquire, in at_rest(): all that the tasks did.
  if (at_rest()) return;
  const auto rests = [this] { return at_rest(); };
  if (at.runtime == nullptr && (help_as_guest() || happens_soon(rests))) return;
  waiters_.wait_until(rests, *this);
}

// The calling thread runs tasks of this source as a worker. Returns whether it is at rest.
bool task_source_base::help_as_guest() {
  const auto help = [this] {
    auto& awaits = accounts_[this_worker().index].awaits;
    const bool outer = std::exchange(awaits, true);
    wait_until([this] { return at_rest(); }, {.how = waits::as_guest, .from = this});
    awaits = outer;
  };
  calling_job job(help);
  return run_as_guest(runtime_, job) && at_rest();
}

void task_source_base::wait_for_rest_on(unsigned worker) {
  auto& awaits = accounts_[worker].awaits;
  const bool outer = std::exchange(awaits, true);
  // Nobody else need know that it waits as long as it finds work itself.
  bool rest = at_rest();
  for (bool ran = true; !rest && ran; rest = at_rest()) ran = run_here(*this);
  if (rest) {
    look_for_rest(worker);  // others may wait, too
  } else {
    waiters_.wait_until([this] { return at_rest(); }, *this);
  }
  awaits = outer;
}

void task_source_base::refuse_to_wait_for_ever(const std::string& call) const {
  const auto at = this_worker();
  const auto key = at.runtime == &runtime_ ? running_task_on(at.index) : std::string();
  throw graph_waits_for_itself(
      call + (key.empty() ? " where it would wait for ever: a task of the graph, or of one that "
                            "it waits for, waits for this very call"
                          : " within the task " + key + ", whose end it would wait for"));
}

void task_source_base::wait() {
  if (!has_runtime()) refuse_without_runtime(std::string(name_) + "::wait");
  expect_own_process(runtime_);
  const blocked_activities blocked(static_cast<const source*>(this));
  if (blocked.for_ever()) refuse_to_wait_for_ever(std::string(name_) + "::wait: called");
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(ending_);
    ticket = next_ticket_++;
    ++waits_;
  }
  undo_if_thrown([this] { wait_for_rest(); },
                 [this] {
                   const std::lock_guard lock(ending_);
                   --waits_;
                 });
  if (auto error = end_of_wait(ticket)) std::rethrow_exception(std::move(error));
}

// The source is at rest. All threads that waited for it then get the same error.
std::exception_ptr task_source_base::end_of_wait(std::uint64_t ticket) {
  const std::lock_guard lock(ending_);
  if (!nothing_left()) {
    outcome_ = outcome();
    outcome_of_those_below_ = next_ticket_;
  }
  auto mine = ticket < outcome_of_those_below_ ? outcome_ : nullptr;
  if (--waits_ == 0) outcome_ = nullptr;
  return mine;
}

std::exception_ptr task_source_base::outcome() {
  auto left = forget_waiting(!cancelled());
  if (auto error = take_error()) return error;
  return left;
}

void task_source_base::abandon_if_unfinished() noexcept {
  if (has_runtime() && runtime_.is_of_parent()) return;
  if (at_rest() && nothing_left()) return;
  if (!cancelled())
    std::fprintf(stderr, "%s: destroyed with unfinished work, which is dropped (no wait() before)\n", name_);
  drop_what_is_left();
  if (const auto error = take_error())
    std::fprintf(stderr, "%s: destroyed with an error that no wait() has thrown: %s\n", name_,
                 words_of(error).c_str());
}

void task_source_base::drop_what_is_left() noexcept {
  if (!has_runtime()) return;
  const blocked_activities blocked(static_cast<const source*>(this));
  if (blocked.for_ever())
    refuse_to_wait_for_ever(std::string(name_) + ": destroyed");  // which ends the program
  cancelled_.store(true, std::memory_order_relaxed);
  try {
    wait_for_rest();
    const std::lock_guard lock(ending_);
    static_cast<void>(forget_waiting(false));
  } catch (const runtime_was_shut_down&) {
    // No thread looks at the source any more.
  }
}

std::exception_ptr task_source_base::take_error() noexcept {
  const std::lock_guard lock(mutex_);
  cancelled_.store(false, std::memory_order_relaxed);
  return std::exchange(error_, nullptr);
}

// ---- Ends that are held ----

held_end<>& task_source_base::hold(running_task& running, unsigned worker, unsigned ends_on) {
  if (running.held != nullptr) {
    running.held->hold();
  } else {
    running.held = new held_end<>(this, running.task, ends_on);
    accounts_[worker].begin_one();
    accounts_[worker].count_held(1);
  }
  return *running.held;
}

void task_source_base::release(held_end<>& held) noexcept {
  if (held.let_go()) held.of->hand_over(held);
}

void task_source_base::hand_over(held_end<>& held) noexcept {
  std::optional<call_in_progress> call;
  if (this_worker().runtime != &runtime_) {
    try {
      if (!has_runtime()) throw runtime_was_shut_down("");
      call.emplace(runtime_);
    } catch (...) {
      delete &held;  // no worker ends the task any more
      return;
    }
  }
  give(held, held.ends_on);
}

void task_source_base::give(runnable& item, unsigned worker) noexcept {
  auto& runtime = runtime_;
  inbox_of(worker).push(item);
  if (worker == any_worker) {
    published(runtime);
  } else {
    published_to(runtime, worker);
  }
}

// ---- Places ----

// A hint. A worker that searches or sleeps comes soon, or is woken; any other one may be in a long task, or
// off its core.
bool task_source_base::is_left_behind(unsigned place, std::int64_t now) const noexcept {
  constexpr std::int64_t patience = 20'000;  // nanoseconds
  const auto& of = accounts_[place];
  return !of.in_use.load(std::memory_order_relaxed) &&
         now - of.left_at.load(std::memory_order_relaxed) >= processor_clock::in(patience) &&
         !runtime_.workers()[place]->is_idle();
}

// Not often: the other workers write what it reads.
bool task_source_base::look_around(unsigned worker, bool takes) noexcept {
  constexpr std::int64_t time_between_looks = 5'000;  // nanoseconds
  const auto now = processor_clock::now();
  auto& looked_at = accounts_[worker].looked_at;
  if (now - looked_at < processor_clock::in(time_between_looks)) return false;
  bool any = false;
  for (unsigned place = 0; place < workers(); ++place) {
    if (place == worker || !is_left_behind(place, now) || !accounts_[place].enter()) continue;
    const bool has = has_work(place);
    if (has && takes) take_from(place, worker);
    accounts_[place].leave();
    any = any || has;
  }
  if (!any) looked_at = now;
  return any;
}

void task_source_base::give_way() noexcept {
  std::this_thread::yield();
}

// The waiter does for the workers what is to be done in their tables, since they may be busy with something
// else for long. The source is at rest, so a worker is inside only to look whether there is something to do.
void task_source_base::enter_all() noexcept {
  for (auto& each : accounts_)
    while (!each.enter()) give_way();
}

void task_source_base::leave_all() noexcept {
  for (auto& each : accounts_) each.leave();
}

}  // namespace teff::detail
