#include <teff/detail/graph/graph_core.hpp>
#include <teff/detail/scheduler/call_in_progress.hpp>
#include <teff/error.hpp>

#include "scheduler/blocked_activities.hpp"
#include "scheduler/guest.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/short_wait.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

namespace teff::detail {

namespace {

std::string sentence_about(const std::vector<std::string>& names, std::size_t count) {
  std::string text =
      "teff::task_graph: " + std::to_string(count) + (count == 1 ? " key was" : " keys were") +
      " fulfilled, but less often than the indegree says, or once more after the task had run: ";
  for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (count > most_names) text += ", ...";
  return text;
}

}  // namespace

graph_core::graph_core(scheduler& runtime, unsigned workers)
    : runtime_(runtime), life_(life_of(runtime)), accounts_(workers) {}

void graph_core::refuse_without_runtime(const char* call) {
  throw runtime_was_shut_down(
      std::string(call) + ": the graph's runtime was destroyed; it must outlive its graphs and recordings");
}

bool graph_core::is_one_of_several() const noexcept {
  return runtime_.sources().may_be_several();
}

void graph_core::fail(std::exception_ptr error) noexcept {
  if (runtime_.is_of_parent()) return cancelled_.store(true, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  // Relaxed: a body that is called all the same is no harm.
  cancelled_.store(true, std::memory_order_relaxed);
}

// ---- Rest ----

// First what has ended, then what began: rest.md.
bool graph_core::at_rest() const noexcept {
  std::uint64_t ended = 0;
  // seq_cst: against waiters_, in look_for_rest() and wait_for_rest(). Acquire: all that the tasks did.
  for (const auto& each : accounts_) ended += each.ended.load(std::memory_order_seq_cst);
  std::uint64_t begun = begun_outside_.load(std::memory_order_relaxed);
  for (const auto& each : accounts_) begun += each.begun.load(std::memory_order_relaxed);
  return begun == ended;
}

std::uint64_t graph_core::keys_left() const noexcept {
  std::int64_t waiting = 0;
  for (const auto& each : accounts_) waiting += each.waiting.load(std::memory_order_relaxed);
  return static_cast<std::uint64_t>(waiting);
}

bool graph_core::nothing_left() const noexcept {
  return keys_left() == 0 && !cancelled();
}

std::exception_ptr graph_core::failure() noexcept {
  if (!cancelled()) return nullptr;
  const std::lock_guard lock(mutex_);
  return error_;
}

// It counts as a waiter, so that look_for_rest() need not look for two things.
void graph_core::tell_of_rest(void (*told)(void* whom) noexcept, void* whom) noexcept {
  told_of_rest_ = told;
  whom_ = whom;
  waiters_.fetch_add(1, std::memory_order_seq_cst);
}

bool graph_core::is_at_rest(const void* graph) noexcept {
  return static_cast<const graph_core*>(graph)->at_rest();
}

void graph_core::look_for_rest(unsigned worker) noexcept {
  auto& ended = accounts_[worker].ended;
  // seq_cst: before the look for waiters and at the other accounts. Of two workers that end last, one sees
  // both.
  ended.store(ended.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  const auto waiters = waiters_.load(std::memory_order_seq_cst);
  if (waiters == 0 || !at_rest()) return;
  if (told_of_rest_ != nullptr) {
    told_of_rest_(whom_);
    if (waiters == 1) return;  // that was the one who waits
  }
  const std::lock_guard lock(mutex_);
  rest_.notify_all();
  for (const unsigned each : waiting_workers_) runtime_.gate().wake(each);
}

bool graph_core::finds_rest(unsigned worker) noexcept {
  if (!at_rest()) return false;
  // Relaxed: whoever begins to wait just now is told when this worker looks for rest again, as it leaves.
  if (waiters_.load(std::memory_order_relaxed) != 0) look_for_rest(worker);
  return true;
}

void graph_core::wait_for_rest() {
  const auto at = here();
  if (at.runtime == &runtime_) return wait_for_rest_on(at.index);
  const call_in_progress call(runtime_);
  // Acquire, in at_rest(): what the tasks did.
  if (at_rest()) return;
  if (at.runtime == nullptr && (help_as_guest() || comes_to_rest_soon())) return;
  wait_for_rest_outside();
}

// The calling thread runs tasks of this graph as a worker. Returns whether it is at rest.
bool graph_core::help_as_guest() {
  struct helping : job {
    graph_core* graph;
  } help;
  help.run = [](job& this_job) noexcept {
    auto& me = *static_cast<helping&>(this_job).graph;
    auto& awaits = me.accounts_[here().index].awaits;
    const bool outer = std::exchange(awaits, true);
    worker::help_while_there_is_work(is_at_rest, &me, me);
    awaits = outer;
  };
  help.graph = this;
  return run_as_guest(runtime_, help) && at_rest();
}

bool graph_core::comes_to_rest_soon() noexcept {
  return happens_soon([this] { return at_rest(); });
}

void graph_core::wait_for_rest_on(unsigned worker) {
  auto& awaits = accounts_[worker].awaits;
  const bool outer = std::exchange(awaits, true);
  // Nobody else need know that it waits as long as it finds work itself.
  bool rest = at_rest();
  for (bool ran = true; !rest && ran; rest = at_rest()) ran = run_here(*this);
  if (rest) {
    look_for_rest(worker);  // others may wait, too
  } else {
    wait_for_rest_among_others(worker);
  }
  awaits = outer;
}

void graph_core::wait_for_rest_among_others(unsigned worker) {
  {
    const std::lock_guard lock(mutex_);
    waiting_workers_.push_back(worker);
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  help_until(is_at_rest, this, this);
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
  const std::lock_guard lock(mutex_);
  waiting_workers_.erase(std::ranges::find(waiting_workers_, worker));
}

void graph_core::wait_for_rest_outside() {
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  {
    std::unique_lock lock(mutex_);
    rest_.wait(lock, [this] { return at_rest(); });
  }
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
}

void graph_core::refuse_to_wait_for_ever(const std::string& call) const {
  const auto at = here();
  const auto key = at.runtime == &runtime_ ? running_key(at.index) : std::string();
  throw graph_waits_for_itself(
      call + (key.empty() ? " where it would wait for ever: a task of the graph, or of one that "
                            "it waits for, waits for this very call"
                          : " within the task " + key + ", whose end it would wait for"));
}

void graph_core::wait() {
  expect_runtime("teff::task_graph::wait");
  runtime_.expect_own_process();
  const blocked_activities blocked(static_cast<const source*>(this));
  if (blocked.for_ever()) refuse_to_wait_for_ever("teff::task_graph::wait: called");
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(ending_);
    ticket = next_ticket_++;
    ++waits_;
  }
  try {
    wait_for_rest();
  } catch (...) {
    const std::lock_guard lock(ending_);
    --waits_;
    throw;
  }
  if (auto error = end_of_wait(ticket)) std::rethrow_exception(std::move(error));
}

// The graph is at rest. What went wrong is told to all who waited for it then.
std::exception_ptr graph_core::end_of_wait(std::uint64_t ticket) {
  const std::lock_guard lock(ending_);
  if (!nothing_left()) {
    outcome_ = outcome();
    outcome_of_those_below_ = next_ticket_;
  }
  auto mine = ticket < outcome_of_those_below_ ? outcome_ : nullptr;
  if (--waits_ == 0) outcome_ = nullptr;
  return mine;
}

std::exception_ptr graph_core::outcome() {
  const auto left = forget_all();
  if (auto error = take_error()) return error;
  if (left.count == 0) return nullptr;
  return std::make_exception_ptr(never_satisfied(sentence_about(left.names, left.count), left.count));
}

void graph_core::abandon_if_unfinished() noexcept {
  if (has_runtime() && runtime_.is_of_parent()) return;
  if (at_rest() && nothing_left()) return;
  std::fputs("teff::task_graph: destroyed with unfinished work, which is dropped (no wait() before)\n",
             stderr);
  if (!has_runtime()) return;
  const blocked_activities blocked(static_cast<const source*>(this));
  if (blocked.for_ever()) refuse_to_wait_for_ever("teff::task_graph: destroyed");  // which ends the program
  cancelled_.store(true, std::memory_order_relaxed);
  try {
    wait_for_rest();
    const std::lock_guard lock(ending_);
    static_cast<void>(forget_all());
  } catch (const runtime_was_shut_down&) {
    // Nobody looks at the graph any more.
  }
}

std::exception_ptr graph_core::take_error() noexcept {
  const std::lock_guard lock(mutex_);
  cancelled_.store(false, std::memory_order_relaxed);
  return std::exchange(error_, nullptr);
}

// ---- Forgetting ----

bool graph_core::enter(unsigned worker) noexcept {
  auto& mine = accounts_[worker];
  mine.inside.store(true, std::memory_order_relaxed);
  runtime_.fences().here();  // against forget_all(): one of the two sees the other
  // Acquire: pairs with the release at the end of forget_all().
  if (!mine.visited.load(std::memory_order_acquire)) [[likely]]
    return true;
  leave(worker);
  return false;
}

void graph_core::leave(unsigned worker) noexcept {
  // Release: what the worker did inside, to the acquire in forget_all().
  accounts_[worker].inside.store(false, std::memory_order_release);
}

// Of a graph at rest, so what the workers keep is let alone, but for their looking whether there is something
// to do. Done for them, since they may be busy with something else for long.
graph_core::leftovers graph_core::forget_all() {
  leftovers all;
  for (auto& each : accounts_) each.visited.store(true, std::memory_order_relaxed);
  runtime_.fences().everywhere();
  for (unsigned worker = 0; worker < workers(); ++worker) {
    while (accounts_[worker].inside.load(std::memory_order_acquire)) std::this_thread::yield();
    forget_placed(worker, all);
  }
  forget_unplaced(all);
  for (auto& each : accounts_) each.visited.store(false, std::memory_order_release);
  return all;
}

}  // namespace teff::detail
