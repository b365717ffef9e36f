// What the headers call on a worker.
#include <teff/detail/fork_join/scope_state.hpp>
#include <teff/detail/scheduler/local_deque.hpp>

#include "scheduler/scheduler.hpp"
#include "scheduler/worker.hpp"

#include <atomic>
#include <cstdint>
#include <thread>

namespace teff::detail {

constinit thread_local local_deque self;

bool share() noexcept {
  auto& me = *worker::current();
  if (self.asked_to_share() && self.share()) me.published();
  me.look_outside();
  if (self.ring == nullptr) return false;
  record_spawn(*self.ring);
  return true;
}

bool shares_without_wake() noexcept {
  return worker::current()->shares_without_wake();
}

namespace {

// The caller may not run anything now.
void answer() noexcept {
  if (!self.asked_to_share()) return;
  auto& me = *worker::current();
  if (self.share()) {
    me.published();
  } else if (self.has_public()) {
    self.withdraw();
  }
  // The request may have been for what came from outside: the next push looks there.
  if (!me.all().requests().empty()) self.ask();
}

}  // namespace

// The slot's closure lies at the head, where another push would overwrite it.
bool calling_worker::take_back(task_slot* slot) noexcept {
  if (!self.retake(slot)) return false;
  answer();
  return true;
}

void calling_worker::answer_request() noexcept {
  answer();
  worker::current()->look_outside();
}

bool settle(task_slot* slot) noexcept {
  if (calling_worker::take_back(slot)) return true;
  worker::current()->wait_for_thief(*slot);
  return false;
}

void reclaim(task_slot* slot) noexcept {
  slot->state.store(slot_state::idle, std::memory_order_relaxed);
  self.reclaim(slot);
}

void wake_owner(const task_slot* slot) noexcept {
  worker::current()->wake_owner(slot);
}

void calling_worker::ended_on_thief(scope_state& scope) noexcept {
  worker::current()->ended(scope);
}

void calling_worker::wait_for_tasks(const std::atomic<std::int64_t>& pending) noexcept {
  worker::current()->wait_for_tasks(pending);
}

void calling_worker::yield() noexcept {
  std::this_thread::yield();
}

}  // namespace teff::detail
