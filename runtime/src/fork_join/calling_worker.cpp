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

void calling_worker::answer_request() noexcept {
  answer_thieves();
  look_outside();
}

bool calling_worker::answer_holding(task_slot* taken) noexcept {
  answer_thieves();
  auto& me = *worker::current();
  if (me.all().requests().empty()) return true;
  self.push(taken);  // what the request pushes goes above it
  look_outside();
  return self.take(taken) || take_back(taken);
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
