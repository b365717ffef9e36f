#include <teff/detail/graph_core.hpp>
#include <teff/error.hpp>

#include "scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace teff::detail {

namespace {

std::string sentence_about(const std::vector<std::string>& names, std::size_t count) {
  std::string text = "teff::task_graph: " + std::to_string(count) + (count == 1 ? " key was" : " keys were") +
                     " fulfilled less often than the indegree says (or again, after the task had run): ";
  for (std::size_t i = 0; i < std::min(names.size(), most_names); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (count > most_names) text += ", ...";
  return text;
}

}  // namespace

graph_core::graph_core(scheduler& runtime, unsigned workers) : runtime_(runtime), accounts_(workers) {}

void graph_core::fail(std::exception_ptr error) noexcept {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  // Relaxed: a body that is called all the same is no harm.
  cancelled_.store(true, std::memory_order_relaxed);
}

// ---- Rest ----

// First what has ended, then what began: README, "At rest".
bool graph_core::at_rest() const noexcept {
  std::uint64_t ended = 0;
  // seq_cst: against waiters_, in look_for_rest() and wait_for_rest(). Acquire: all that the tasks did.
  for (const auto& each : accounts_) ended += each.ended.load(std::memory_order_seq_cst);
  std::uint64_t begun = begun_outside_.load(std::memory_order_relaxed);
  for (const auto& each : accounts_) begun += each.begun.load(std::memory_order_relaxed);
  return begun == ended;
}

bool graph_core::nothing_left() const noexcept {
  std::int64_t waiting = 0;
  for (const auto& each : accounts_) waiting += each.waiting.load(std::memory_order_relaxed);
  return waiting == 0 && !cancelled();
}

void graph_core::look_for_rest(unsigned worker) noexcept {
  auto& ended = accounts_[worker].ended;
  // seq_cst: before the look for waiters and at the other accounts. Of two workers that end last, one sees
  // both.
  ended.store(ended.load(std::memory_order_relaxed), std::memory_order_seq_cst);
  if (waiters_.load(std::memory_order_seq_cst) == 0 || !at_rest()) return;
  const std::lock_guard lock(mutex_);
  rest_.notify_all();
  for (const unsigned each : waiting_workers_) runtime_.gate().wake(each);
}

void graph_core::wait_for_rest() {
  const auto at = here();
  if (at.runtime != &runtime_) return wait_for_rest_outside();
  {
    const std::lock_guard lock(mutex_);
    waiting_workers_.push_back(at.index);
  }
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  help_until([](const void* self) { return static_cast<const graph_core*>(self)->at_rest(); }, this);
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
  const std::lock_guard lock(mutex_);
  waiting_workers_.erase(std::ranges::find(waiting_workers_, at.index));
}

void graph_core::wait_for_rest_outside() {
  const call_in_progress call(runtime_);
  waiters_.fetch_add(1, std::memory_order_seq_cst);
  {
    std::unique_lock lock(mutex_);
    rest_.wait(lock, [this] { return at_rest(); });
  }
  waiters_.fetch_sub(1, std::memory_order_seq_cst);
}

void graph_core::wait() {
  const auto at = here();
  if (at.runtime == &runtime_) {
    if (const auto key = running_key(at.index); !key.empty()) {
      throw graph_waits_for_itself("teff::task_graph::wait: called within the task " + key +
                                   ", whose end it would wait for");
    }
  }
  wait_for_rest();
  if (nothing_left()) return;
  const auto left = forget_all();
  if (std::exception_ptr error = take_error()) std::rethrow_exception(std::move(error));
  if (left.count != 0) throw never_satisfied(sentence_about(left.names, left.count), left.count);
}

void graph_core::abandon_if_unfinished() noexcept {
  if (at_rest() && nothing_left()) return;
  std::fputs("teff::task_graph: destroyed with unfinished work, which is dropped (no wait() before)\n",
             stderr);
  cancelled_.store(true, std::memory_order_relaxed);
  try {
    wait_for_rest();
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

// Has worker `worker` forget what it keeps, and waits until it has.
void graph_core::forget_on(unsigned worker, leftovers& all) {
  struct visit : awaited_job {
    graph_core& graph;
    unsigned worker;
    leftovers& all;
    place waiter;
  };
  visit visit{{{[](job& self) noexcept {
                auto& me = static_cast<struct visit&>(self);
                me.graph.forget_placed(me.worker, me.all);
                auto& gate = me.graph.runtime_.gate();
                const auto waiter = me.waiter;
                if (waiter.runtime == nullptr) return wake_submitter(me);
                // seq_cst: before the look whether the waiter sleeps.
                me.ended.store(1, std::memory_order_seq_cst);
                gate.wake(waiter.index);
              }}},
              *this,
              worker,
              all,
              here()};
  if (visit.waiter.runtime == &runtime_) {
    submit_to(runtime_, worker, visit);
    help_until(
        [](const void* job) {
          return static_cast<const awaited_job*>(job)->ended.load(std::memory_order_seq_cst) != 0;
        },
        static_cast<awaited_job*>(&visit));
  } else {
    visit.waiter = {};
    const call_in_progress call(runtime_);
    submit_to(runtime_, worker, visit);
    // Acquire: pairs with the release in wake_submitter().
    while (visit.ended.load(std::memory_order_acquire) == 0) futex_wait(visit.ended, 0);
  }
}

graph_core::leftovers graph_core::forget_all() {
  leftovers all;
  const auto at = here();
  for (unsigned worker = 0; worker < workers(); ++worker) {
    if (at.runtime == &runtime_ && worker == at.index) {
      forget_placed(worker, all);
    } else {
      forget_on(worker, all);
    }
  }
  forget_unplaced(all);
  return all;
}

}  // namespace teff::detail
