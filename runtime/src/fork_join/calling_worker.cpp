// Functions of a worker that joins, forks, scopes and loops call.
#include <teff/detail/fork_join/scope_state.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/process.hpp>
#include <teff/error.hpp>

#include "fork_join/stolen_tasks.hpp"
#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace teff::detail {

namespace {

// Runs nothing: a slot that has been taken may lie at the head, where another push would overwrite it.
void answer_thieves() noexcept {
  if (!self.asked_to_share()) return;
  if (self.share()) {
    worker::current()->published();
  } else if (self.has_public()) {
    self.withdraw();
  }
  // The request may have been for what came from outside: the next push looks there.
  if (auto* const me = worker::current(); me != nullptr && !me->all().requests().empty()) self.ask();
}

}  // namespace

bool share() noexcept {
  if (self.asked_to_share() && self.share()) worker::current()->published();
  look_outside();
  if (self.ring == nullptr) return false;
  record_spawn(*self.ring);
  return true;
}

void look_outside() noexcept {
  if (auto* const me = worker::current()) me->look_outside();
}

bool shares_without_wake() noexcept {
  auto* const me = worker::current();
  return me != nullptr && me->shares_without_wake();
}

bool calling_worker::take_back(task_slot* slot) noexcept {
  static_cast<void>(worker::current_or_end());
  if (!self.retake(slot)) return false;
  answer_thieves();
  return true;
}

void calling_worker::answer_request() noexcept {
  answer_thieves();
  look_outside();
}

bool calling_worker::answer_holding(task_slot* taken) noexcept {
  answer_thieves();
  auto& me = *worker::current();
  if (me.all().requests().empty()) return true;
  self.push(taken);  // what the request pushes goes above it
  me.look_outside();
  return self.take(taken) || take_back(taken);
}

bool settle(task_slot* slot) noexcept {
  if (calling_worker::take_back(slot)) return true;
  wait_until(
      [slot] {
        // seq_cst: the last look before sleeping, against run_stolen(); acquire: the result.
        const auto state = slot->state.load(std::memory_order_seq_cst);
        return state == slot_state::ended || state == slot_state::failed;
      },
      {.how = waits::for_its_tasks, .slot = slot});
  return false;
}

void reclaim(task_slot* slot) noexcept {
  slot->state.store(slot_state::idle, std::memory_order_relaxed);
  if ((slot->exceptions & made_outside) == 0) self.reclaim(slot);
}

void wake_owner(const task_slot* slot) noexcept {
  if (auto* const me = worker::current()) me->wake_owner(slot);
}

void calling_worker::ended_on_thief(scope_state& scope) noexcept {
  stolen_tasks<calling_worker>(worker::current_or_end().stolen()).ended(scope);
}

void run_stolen_slot(stolen_record<task_slot, scope_state>& kept, task_slot& stolen) noexcept {
  stolen_tasks<calling_worker>(kept).run(stolen);
}

void tell_scope(stolen_record<task_slot, scope_state>& kept) noexcept {
  stolen_tasks<calling_worker>(kept).tell();
}

void calling_worker::wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept {
  // seq_cst: the last look before sleeping, against complete(); acquire: sees the work of the tasks.
  wait_until([&pending] { return pending.load(std::memory_order_seq_cst) == 0; },
             {.how = waits::for_its_tasks});
}

void calling_worker::yield() noexcept {
  std::this_thread::yield();
}

void refuse_to_wait() {
  if (was_forked_by_worker()) throw forked_process();
  throw misuse(
      "teff::scope: waited for on another worker than its own, from within a join, or before the end of a "
      "scope or fork that was made later: end that one first");
}

template class scope_tasks<calling_worker>;
template class basic_scope<calling_worker>;

}  // namespace teff::detail
