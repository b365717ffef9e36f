#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/scheduler/tracing.hpp>
#include <teff/detail/scheduler/waiting.hpp>

#include "platform/futex.hpp"
#include "scheduler/runtime_registry.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

namespace teff::detail {

void wait_until(condition done, const while_waiting& how) noexcept {
  const traced_span span(event_kind::waiting, nullptr);
  worker::current_or_end().wait_until(done, how);
}

// ---- One thread ----

void awaited_end::wait(std::chrono::microseconds patience) noexcept {
  const auto come = [this] { return has_come(); };
  if (waiter_.runtime != nullptr) return wait_until(come);
  if (happens_soon(come, patience)) return;
  const thread_blocks blocks;
  sleep();
}

void awaited_end::sleep() noexcept {
  auto now = not_yet;
  // Acquire, both: all that was done before come(). Of the exchange here and the one there, the later one
  // sees the value of the earlier one.
  if (!word_.compare_exchange_strong(now, not_yet_and_asleep, std::memory_order_acquire)) return;
  while (word_.load(std::memory_order_acquire) == not_yet_and_asleep) futex::wait(word_, not_yet_and_asleep);
}

void awaited_end::come() noexcept {
  // seq_cst: after the change of which it tells, against the store in waiters::wait_until().
  if (word_.load(std::memory_order_seq_cst) == has_ended) return;
  const auto [runtime, index] = waiter_;
  // Release: pairs with has_come() and sleep(). seq_cst: before the look whether the waiter sleeps.
  const auto before = word_.exchange(has_ended, std::memory_order_seq_cst);
  if (runtime == nullptr) {
    if (before == not_yet_and_asleep) futex::wake(word_);  // takes its address only
  } else if (auto* const me = worker::current(); me != nullptr && &me->all() == runtime) {
    runtime->gate().wake(index);
  } else {
    runtimes::each([&](scheduler& each) {
      if (&each == runtime) each.gate().wake(index);
    });
  }
}

// ---- Several threads ----

struct waiters::listed : awaited_end {
  using awaited_end::awaited_end;
  listed* next = nullptr;
};

void waiters::wait_until(condition done, source& awaited) noexcept {
  const auto at = this_worker();
  const bool helps = at.runtime == &runtime_;
  listed me(helps ? at : worker_id{});
  {
    const std::lock_guard lock(mutex_);
    me.next = first_.load(std::memory_order_relaxed);
    first_.store(&me, std::memory_order_seq_cst);  // before the looks, against any()
  }
  if (helps) {
    detail::wait_until(done, {.from = &awaited});
  } else {
    const thread_blocks blocks;
    for (; !done(); me.word_.store(awaited_end::not_yet, std::memory_order_seq_cst))  // before the next look
      me.sleep();
  }
  const std::lock_guard lock(mutex_);
  auto* before = first_.load(std::memory_order_relaxed);
  if (before == &me) return first_.store(me.next, std::memory_order_relaxed);
  while (before->next != &me) before = before->next;
  before->next = me.next;
}

void waiters::wake() noexcept {
  const std::lock_guard lock(mutex_);
  for (auto* each = first_.load(std::memory_order_relaxed); each != nullptr; each = each->next)
    each->waiter_.runtime == nullptr ? each->come() : void(runtime_.gate().wake(each->waiter_.index));
}

}  // namespace teff::detail
