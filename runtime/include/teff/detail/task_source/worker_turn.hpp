// A worker's turn: how it runs the ready tasks of a source, and looks for more (src/task_source/README.md).
#pragma once

#include <teff/detail/platform/processor_clock.hpp>
#include <teff/detail/scheduler/core_share.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/task_source/task_source.hpp>

#include <bit>
#include <utility>

namespace teff::detail {

template <class Derived, class Worker>
bool task_source<Derived, Worker>::run(unsigned worker, bool own) noexcept {
  Worker& caller = derived().state(worker);
  const bool nested = caller.running != nullptr;
  const bool enters = caller.inside != worker;
  if (enters && !enter_place(caller)) return false;
  const within turn(*this, &caller);
  // Others wait meanwhile: messages of a communicator, or tasks of another source.
  const bool is_timed = is_one_of_several();
  const unsigned most = nested || own ? 1 : tasks_a_run;
  const auto ends_at = is_timed ? processor_clock::now() + processor_clock::in(time_a_run) : 0;
  unsigned tasks = 0;
  bool rests = false;
  // A worker that waits asks when it first finds nothing. After that all ask rarely: the others write what
  // at_rest() reads.
  bool asks_at_once = account(worker).awaits && !nested;
  const auto look_for_more = [&] {
    end_if_forked();
    receive_outside(caller);
  };
  for (unsigned looks = 0; looks < looks_a_run;) {
    if (!caller.ready.sees_own() || tasks % tasks_between_looks == 0 || derived().has_priorities())
      receive_all(caller);
    compare_kept(caller);
    if (runnable* const next = own ? caller.ready.take_own() : caller.ready.take(look_for_more)) {
      execute(caller, next);
      looks = 0;
      // The clock is read after 1, 2, 4, ... tasks.
      if (++tasks == most || (is_timed && std::has_single_bit(tasks) && processor_clock::now() >= ends_at))
        break;
      if (self.asked() && !nested && makes_way_for_request()) [[unlikely]] {
        share_kept(caller);
        break;
      }
      if (tasks % tasks_between_looks == 0 || this_core.is_shared()) look_at_core(caller);
      continue;
    }
    if (!own && receive_outside(caller)) continue;
    end_if_forked();
    if (!nested && looks == 0) say_ended(caller);
    if (own) break;
    const auto queues_of = [&](std::size_t each) -> auto& {
      return derived().state(static_cast<unsigned>(each)).ready;
    };
    if (runnable* const task = caller.ready.steal_from(workers(), queues_of)) {
      execute(caller, task);
      ++tasks;
      looks = 0;
    } else if (sees_left_behind(worker, true)) {
      looks = 0;
    } else if (tasks == 0 || is_timed || is_being_detached() ||
               (std::exchange(asks_at_once, false) && at_rest())) {
      break;
    } else if (++looks % looks_between_rests == 0 && !nested && (rests = at_rest())) {
      break;
    }
  }
  if (enters) leave_place(caller);
  if (!nested && (tasks == 0 || rests)) derived().look_for_rest(worker);
  return tasks != 0;
}

template <class Derived, class Worker>
bool task_source<Derived, Worker>::sees_own_work(unsigned worker) noexcept {
  if (is_quiet(worker)) return false;
  Worker& caller = derived().state(worker);
  const bool nested = caller.running != nullptr;
  const bool enters = caller.inside != worker;
  if (enters && !enter_place(caller)) return true;  // it looks again when it can
  if (!nested) settle_items(caller);
  const bool sees = caller.ready.sees_own() || !inbox_of(worker).empty() || derived().sees_messages(caller);
  if (enters) leave_place(caller);
  if (!nested) derived().look_for_rest(worker);
  return sees;
}

template <class Derived, class Worker>
void task_source<Derived, Worker>::step_back(unsigned worker) noexcept {
  Worker& caller = derived().state(worker);
  const bool has_said_all = account(worker).ended.load(std::memory_order_relaxed) == caller.items();
  if (caller.running != nullptr || (has_said_all && caller.ready.kept() == nullptr)) return;
  const bool enters = caller.inside != worker;
  come_back(caller);
  share_kept(caller);
  settle_items(caller);
  if (enters) leave_place(caller);
  derived().look_for_rest(worker);
}

}  // namespace teff::detail
