// What the headers call on a worker.
#include <teff/detail/fork_join/scope_state.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/error.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <new>
#include <thread>

namespace teff::detail {

constinit thread_local local_deque self;

namespace {

// Of the calling thread, if that is a worker: in a child process of fork() the deque of the thread that was
// one stays in use, and nobody steals from it.
void published() noexcept {
  if (auto* const me = worker::current()) me->published();
}

// The thief is a thread of the parent process. What it has not brought back is lost.
void lose_stolen(task_slot& slot) noexcept {
  const auto state = slot.state.load(std::memory_order_relaxed);
  if (state == slot_state::ended || state == slot_state::failed) return;
  new (slot.data) std::exception_ptr(std::make_exception_ptr(forked_process()));
  slot.state.store(slot_state::failed, std::memory_order_relaxed);
}

// Runs nothing: a slot that has been taken may lie at the head, where another push would overwrite it.
void answer_thieves() noexcept {
  if (!self.asked_to_share()) return;
  if (self.share()) {
    published();
  } else if (self.has_public()) {
    self.withdraw();
  }
  // The request may have been for what came from outside: the next push looks there.
  if (auto* const me = worker::current(); me != nullptr && !me->all().requests().empty()) self.ask();
}

}  // namespace

bool share() noexcept {
  if (self.asked_to_share() && self.share()) published();
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
  auto* const me = worker::current();
  if (me == nullptr || me->all().requests().empty()) return true;
  self.push(taken);  // what the request pushes goes above it
  me->look_outside();
  return self.take(taken) || take_back(taken);
}

bool settle(task_slot* slot) noexcept {
  if (calling_worker::take_back(slot)) return true;
  if (auto* const me = worker::current()) {
    me->wait_for_thief(*slot);
  } else {
    lose_stolen(*slot);
  }
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
  if (auto* const me = worker::current()) me->ended(scope);
}

void calling_worker::wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept {
  if (auto* const me = worker::current()) return me->wait_for_tasks(pending);
  self.innermost->lose_tasks(std::make_exception_ptr(forked_process()));
}

void calling_worker::yield() noexcept {
  std::this_thread::yield();
}

}  // namespace teff::detail
