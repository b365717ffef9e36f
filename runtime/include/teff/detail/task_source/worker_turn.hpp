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

// Runs a task that lies ready here, if there is one.
template <class Derived, class Worker>
bool task_source<Derived, Worker>::run_next(Worker& here) noexcept {
  ready_node* const task = here.ready.take([&] {
    leave_if_forked();
    receive_outside(here);
  });
  if (task != nullptr) execute(here, task);
  return task != nullptr;
}

template <class Derived, class Worker>
bool task_source<Derived, Worker>::run(unsigned worker) noexcept {
  Worker& here = derived().state(worker);
  const bool nested = here.running != nullptr;
  const bool enters = here.inside != worker;
  if (enters && !enter(here)) return false;
  const within turn(*this, &here);
  // Others wait meanwhile: messages of a communicator, or tasks of another source.
  const bool looks_elsewhere = this->looks_elsewhere();
  const bool is_timed = looks_elsewhere || is_one_of_several();
  const unsigned most = nested ? 1 : is_timed ? here.tasks_a_run : tasks_a_run;
  const auto began = is_timed ? processor_clock::now() : 0;
  unsigned tasks = 0;
  // A worker that waits asks when it first finds nothing. After that all ask rarely: the others write what
  // at_rest() reads.
  bool asks_at_once = account(worker).awaits && !nested;
  for (unsigned looks = 0; looks < looks_a_run;) {
    if (!here.ready.sees_own() || tasks % tasks_between_looks == 0 || derived().has_priorities())
      receive(here);
    compare_kept(here);
    if (run_next(here)) {
      looks = 0;
      if (++tasks == most) break;
      if (self.asked() && !nested && makes_way_for_request()) [[unlikely]] {
        share_kept(here);
        break;
      }
      if (tasks % tasks_between_looks == 0 || this_core.is_shared()) look_at_core(here);
      continue;
    }
    if (receive_outside(here)) continue;
    leave_if_forked();
    if (!nested && looks == 0) say_ended(here);
    if (ready_node* const task = ready_.steal(here.ready)) {
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
  if (is_timed && tasks != 0 && !nested)
    here.tasks_a_run = next_tasks_a_run(tasks, processor_clock::now() - began, most);
  if (enters) leave(here);
  if (tasks != 0) return true;
  if (!nested) derived().look_for_rest(worker);
  return false;
}

template <class Derived, class Worker>
bool task_source<Derived, Worker>::run_own(unsigned worker) noexcept {
  Worker& here = derived().state(worker);
  const bool nested = here.running != nullptr;
  const bool enters = here.inside != worker;
  if (enters && !enter(here)) return false;
  const within turn(*this, &here);
  const bool received = receive(here);
  compare_kept(here);
  ready_node* const task = here.ready.take_own();
  if (task != nullptr) {
    execute(here, task);
  } else if (!nested) {
    say_ended(here);
  }
  if (enters) leave(here);
  if (task == nullptr && !nested) derived().look_for_rest(worker);
  return task != nullptr || received;
}

template <class Derived, class Worker>
bool task_source<Derived, Worker>::sees_own_work(unsigned worker) noexcept {
  Worker& here = derived().state(worker);
  const bool nested = here.running != nullptr;
  const bool enters = here.inside != worker;
  if (enters && !enter(here)) return true;  // it looks again when it can
  if (!nested) settle_items(here);
  const bool sees =
      here.ready.sees_own() || !account(worker).released.empty() || derived().sees_messages(here);
  if (enters) leave(here);
  if (!nested) derived().look_for_rest(worker);
  return sees;
}

}  // namespace teff::detail
