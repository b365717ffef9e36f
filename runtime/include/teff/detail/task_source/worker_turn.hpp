// A worker's turn: how it runs the ready tasks of a source, and looks for more (src/task_source/README.md).
#pragma once

#include <teff/detail/scheduler/core_share.hpp>
#include <teff/detail/scheduler/local_deque.hpp>
#include <teff/detail/scheduler/processor_clock.hpp>
#include <teff/detail/scheduler/requests.hpp>
#include <teff/detail/task_source/task_source.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace teff::detail {

// How many tasks the next run() may take, after one that took so many.
template <class Derived, class Worker>
unsigned task_source<Derived, Worker>::next_tasks_a_run(unsigned tasks, std::int64_t took,
                                                        unsigned most) noexcept {
  const auto time = processor_clock::in(time_a_run);
  if (took > time) return static_cast<unsigned>(std::max<std::int64_t>(tasks * time / took, 1));
  return tasks == most && took < time / 2 ? std::min(most * 2, tasks_a_run) : most;
}

template <class Derived, class Worker>
bool task_source<Derived, Worker>::run(unsigned worker, bool own) noexcept {
  Worker& here = derived().state(worker);
  const bool nested = here.running != nullptr;
  const bool enters = here.inside != worker;
  if (enters && !enter(here)) return false;
  const within turn(*this, &here);
  // Others wait meanwhile: messages of a communicator, or tasks of another source.
  const bool looks_elsewhere = this->looks_elsewhere();
  const bool is_timed = looks_elsewhere || is_one_of_several();
  const unsigned most = nested || own ? 1 : is_timed ? here.tasks_a_run : tasks_a_run;
  const auto began = is_timed ? processor_clock::now() : 0;
  unsigned tasks = 0;
  // A worker that waits asks when it first finds nothing. After that all ask rarely: the others write what
  // at_rest() reads.
  bool asks_at_once = account(worker).awaits && !nested;
  const auto look_for_more = [&] {
    leave_if_forked();
    receive_all_outside(here);
  };
  for (unsigned looks = 0; looks < looks_a_run;) {
    if (!here.ready.sees_own() || tasks % tasks_between_looks == 0 || derived().has_priorities())
      receive_all(here);
    compare_kept(here);
    if (runnable* const next = own ? here.ready.take_own() : here.ready.take(look_for_more)) {
      execute(here, next);
      looks = 0;
      if (++tasks == most) break;
      if (self.asked() && !nested && makes_way_for_request()) [[unlikely]] {
        share_kept(here);
        break;
      }
      if (tasks % tasks_between_looks == 0 || this_core.is_shared()) look_at_core(here);
      continue;
    }
    if (!own && receive_all_outside(here)) continue;
    leave_if_forked();
    if (!nested && looks == 0) say_ended(here);
    if (own) break;
    if (runnable* const task = ready_.steal(here.ready)) {
      execute(here, task);
      ++tasks;
      looks = 0;
    } else if (take_over(worker)) {
      looks = 0;
    } else if (tasks == 0 || looks_elsewhere || is_being_detached() ||
               (std::exchange(asks_at_once, false) && at_rest())) {
      break;
    } else if (++looks % looks_between_rests == 0 && !nested && finds_rest(worker)) {
      break;
    }
  }
  if (is_timed && tasks != 0 && !nested && !own)
    here.tasks_a_run = next_tasks_a_run(tasks, processor_clock::now() - began, most);
  if (enters) leave(here);
  if (tasks != 0) return true;
  if (!nested) derived().look_for_rest(worker);
  return false;
}

template <class Derived, class Worker>
bool task_source<Derived, Worker>::sees_own_work(unsigned worker) noexcept {
  Worker& here = derived().state(worker);
  const bool nested = here.running != nullptr;
  const bool enters = here.inside != worker;
  if (enters && !enter(here)) return true;  // it looks again when it can
  if (!nested) settle_items(here);
  const bool sees = here.ready.sees_own() || !inbox_of(worker).empty() || derived().sees_messages(here);
  if (enters) leave(here);
  if (!nested) derived().look_for_rest(worker);
  return sees;
}

}  // namespace teff::detail
