// A source of many small tasks: how its workers run what is ready (src/task_source/README.md).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/ready/ready_tasks.hpp>
#include <teff/detail/scheduler/core_share.hpp>
#include <teff/detail/scheduler/processor_clock.hpp>
#include <teff/detail/task_source/source_worker.hpp>
#include <teff/detail/task_source/task_source_base.hpp>

#include <cstdint>
#include <exception>
#include <utility>

namespace teff::detail {

// `Worker` derives from source_worker. `Derived` has, for its base:
//
//   Worker& state(unsigned worker)              the state of that worker
//   bool has_priorities()
//   void run_body(Worker&, runnable&)           runs the body of a task; may throw what that throws
//   void end(Worker&, runnable&) noexcept       the task has ended
//   void look_for_rest(unsigned) noexcept       that of the base, or one that calls it
//
// and functions in the place of those under "What a source may have" below, if it has that; has_work() and
// take_from(), if it calls share_places(); accept(Worker&, runnable&), by which the worker takes part in a
// worksharing task, if it makes offers.
template <class Derived, class Worker>
class task_source : public task_source_base {
 public:
  [[nodiscard]] held_end<>* hold_end() override {
    const frame& at = *self.frame;
    if (!at.is_of(*this) || at.state == nullptr || at.state->running == nullptr) return nullptr;
    running_task& running = *at.state->running;
    if (running.ends) return nullptr;
    return &hold(running, at.state->index, derived().ends_on(static_cast<Worker&>(*at.state), *running.task));
  }

  bool run(unsigned worker) noexcept override { return !is_quiet(worker) && run(worker, false); }
  bool sees_work(unsigned worker) noexcept override {
    if (is_quiet(worker)) return false;
    return sees_own_work(worker) || !inbox_of(any_worker).empty() || ready_.sees_shared() ||
           sees_left_behind(worker, false);
  }
  bool run_own(unsigned worker) noexcept override { return !is_quiet(worker) && run(worker, true); }
  bool sees_own_work(unsigned worker) noexcept override;

 protected:
  task_source(scheduler& runtime, unsigned workers, const char* name)
      : task_source_base(runtime, workers, name), ready_(workers) {}
  // The state of the next worker, before anything runs. Throws std::bad_alloc.
  void add_worker(Worker& state) { ready_.add(state.ready); }

  // A task becomes ready that any worker may run. Of those that a body makes ready, the one with the highest
  // priority is kept to run next, of equal ones the last; the others are shared. Throws std::bad_alloc; then
  // the source has failed.
  void make_ready(Worker& here, runnable* task) {
    const runnable* const kept = here.ready.kept();
    if (here.keeps_next() && (kept == nullptr || kept->priority <= task->priority))
      task = here.ready.keep_next(task);
    if (task != nullptr) share(here, task);
  }
  // A task becomes ready that other workers are to find at once. Throws std::bad_alloc; then the source has
  // failed.
  void share(Worker& here, runnable* ready);
  // Runs a ready task now, on the calling worker, even in the middle of another task.
  void run_at_once(Worker& here, runnable* task) noexcept {
    const within turn(*this, &here);
    execute(here, task);
    if (here.ready.sees_own()) [[unlikely]]
      begin_own_item(here);  // for the tasks that it has left in the worker's queues
  }
  // Unless the worker is in the middle of one, begins an item that ends when the worker has run out of work.
  void begin_own_item(Worker& here) noexcept {
    if (here.running != nullptr) return;
    account(here.index).begin_one();
    ++here.items_received;
  }
  // The worker is about to use its own place. False: another thread does, for now.
  [[nodiscard]] bool enter(Worker& here) noexcept {
    if (!account(here.index).enter()) return false;
    here.inside = here.index;
    return true;
  }
  void leave(Worker& here) noexcept {
    here.inside = Worker::no_place;
    auto& place = account(here.index);
    if (shares_places()) place.left_at.store(processor_clock::now(), std::memory_order_relaxed);  // a hint
    place.leave();
  }
  // The worker takes what lies in the inbox of the worker `of`, in whose place it is, or of the source.
  // before_end(held): of each end. Returns whether there was anything.
  template <class BeforeEnd>
  bool empty_inbox(Worker& here, unsigned of, BeforeEnd before_end) noexcept;
  bool empty_inbox(Worker& here, unsigned of) noexcept {
    return empty_inbox(here, of, [](held_end<>&) {});
  }
  // After a body whose end is `held`: whether its handles were released before it returned. If not, end() is
  // called when they are.
  [[nodiscard]] bool ends_with_body(Worker& here, held_end<>& held) noexcept;
  // Calls count(). A task's last dependence is done, so if that throws, the task would be missing: the source
  // fails.
  template <class MakeReady>
  void fail_if_thrown(MakeReady make_ready) {
    undo_if_thrown(make_ready, [this] { fail(std::current_exception()); });
  }
  // Calls count(), unless the source has failed. If count() throws, the source fails.
  template <class Count>
  void try_count(Count count) noexcept {
    if (cancelled()) return;
    catch_all(count, [this] { fail(std::current_exception()); });
  }
  // A body of this source may have called fork() and returned in the child process, where threads of the
  // parent hold the locks: asked before a lock is taken. The child has found the source cancelled.
  void leave_if_forked() const noexcept {
    if (cancelled()) [[unlikely]]
      end_if_child(runtime());
  }

  // ---- What a source may have ----

  // Messages to a worker, beside its inbox: counts them. False: there were none.
  static bool receive(Worker& /*here*/) noexcept { return false; }
  // Whether receive() would find something.
  [[nodiscard]] static bool sees_messages(const Worker& /*here*/) noexcept { return false; }
  // Counts a key that came through the inbox of the worker of `at`, or of the source.
  static void accept_key(Worker& /*here*/, Worker& /*at*/, runnable& /*key*/, bool /*has_place*/) noexcept {}
  // How many tasks, as the worker counts, wait for something.
  [[nodiscard]] static std::int64_t tasks_waiting(const Worker& /*here*/) noexcept { return 0; }
  // The only worker that can end() a task of this one, or any_worker.
  [[nodiscard]] static unsigned ends_on(const Worker& /*here*/, const runnable& /*task*/) noexcept {
    return any_worker;
  }
  // Whether the task was taken from the place of another worker.
  [[nodiscard]] static bool was_taken(const runnable& /*task*/) noexcept { return false; }

 private:
  [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }

  // `own`: only one task that no other worker may run.
  bool run(unsigned worker, bool own) noexcept;
  void execute(Worker& here, runnable* task) noexcept;
  void run_body(Worker& here, runnable& task) noexcept {
    catch_all([&] { derived().run_body(here, task); }, [this] { fail(std::current_exception()); });
  }
  void run_body_outside(Worker& here, runnable& task) noexcept;
  void come_back(Worker& here) noexcept;
  bool receive_all(Worker& here) noexcept {
    const bool received = derived().receive(here);
    return (!inbox_of(here.index).empty() && empty_inbox(here, here.index)) || received;
  }
  bool receive_outside(Worker& here) noexcept {
    return !inbox_of(any_worker).empty() && empty_inbox(here, any_worker);
  }
  void share_kept(Worker& here) noexcept;
  void look_at_core(Worker& here) noexcept;
  void leave_core(Worker& here) noexcept;
  void compare_kept(Worker& here) noexcept;
  // The end that was held, an item, is done.
  void took(Worker& here, held_end<>& held) noexcept {
    ++here.items_received;
    account(here.index).count_held(-1);
    delete &held;
  }
  void say_ended(Worker& here) noexcept;
  void settle_items(Worker& here) noexcept;

  // After so many tasks, or so many looks without finding one, run() returns: there may be other work.
  static constexpr unsigned tasks_a_run = 256;
  static constexpr unsigned looks_a_run = 128;
  // After so many looks in vain it looks whether the source rests.
  static constexpr unsigned looks_between_rests = 16;
  // Where there is another source, after so many nanoseconds of tasks, about: as often as that is worth its
  // cost.
  static constexpr std::int64_t time_a_run = 2000;
  // Of equal priority, before it looks for messages (src/graph/README.md).
  static constexpr unsigned tasks_between_looks = 8;
  // For bodies of so many nanoseconds, a worker steps out of its place: that costs it some twenty.
  static constexpr std::int64_t long_body = 2000;

  ready_group ready_;
};

template <class Derived, class Worker>
void task_source<Derived, Worker>::share(Worker& here, runnable* ready) {
  const bool by_priority = derived().has_priorities();
  // Anything that can throw comes before the item begins.
  fail_if_thrown([&] { here.ready.make_room(by_priority); });
  account(here.index).begin_one();
  here.ready.push_shared(ready, by_priority);
  published(runtime());
}

// ---- A task runs and ends ----

template <class Derived, class Worker>
void task_source<Derived, Worker>::execute(Worker& here, runnable* task) noexcept {
  if constexpr (requires { derived().accept(here, *task); }) {
    if (task->kind == runnable_kind::offer) [[unlikely]] {
      leave_if_forked();
      return derived().accept(here, *task);
    }
  }
  if (!cancelled()) [[likely]] {
    running_task mine{task};
    auto* const outer = std::exchange(here.running, &mine);
    if (here.steps_out || derived().was_taken(*task)) [[unlikely]] {
      run_body_outside(here, *task);
    } else {
      run_body(here, *task);
    }
    here.running = outer;
    if (mine.held != nullptr && !ends_with_body(here, *mine.held)) [[unlikely]]
      return;
  } else {
    leave_if_forked();
  }
  derived().end(here, *task);
}

// Other workers may take the tasks in the place, until the body fulfils a key there.
template <class Derived, class Worker>
[[gnu::noinline]] void task_source<Derived, Worker>::run_body_outside(Worker& here, runnable& task) noexcept {
  leave(here);
  run_body(here, task);
  come_back(here);
}

// Another thread is in the place for a short time only, and waits for no place.
template <class Derived, class Worker>
void task_source<Derived, Worker>::come_back(Worker& here) noexcept {
  while (here.inside != here.index && !enter(here)) {
    leave_if_forked();
    give_way();
  }
}

template <class Derived, class Worker>
[[gnu::noinline]] bool task_source<Derived, Worker>::ends_with_body(Worker& here, held_end<>& held) noexcept {
  if (!held.release()) return false;
  took(here, held);
  return true;
}

// ---- Items from other threads ----

// Any worker may take the tasks from the inbox of the source: the oldest runs next here. Tasks whose last
// handle was released after the body had returned end.
template <class Derived, class Worker>
template <class BeforeEnd>
[[gnu::noinline]] bool task_source<Derived, Worker>::empty_inbox(Worker& here, unsigned of,
                                                                 BeforeEnd before_end) noexcept {
  const bool for_any = of == any_worker;
  // Of the tasks that any worker may run the newest first: the worker keeps the last one.
  auto* each = for_any ? inbox_of(of).take_newest_first() : inbox_of(of).take_all();
  const bool any = each != nullptr;
  const bool outer = std::exchange(here.runs_what_it_receives, for_any);
  runnable* ends = nullptr;
  runnable** last_end = &ends;
  while (each != nullptr) {
    auto& one = *std::exchange(each, each->next_in_line);
    if (one.kind == runnable_kind::end) {
      one.next_in_line = nullptr;
      *std::exchange(last_end, &one.next_in_line) = &one;
    } else if (one.kind == runnable_kind::key) {
      derived().accept_key(here, for_any ? here : derived().state(of), one, !for_any);
    } else {
      ++here.items_received;
      catch_all([&] { for_any ? make_ready(here, &one) : here.ready.push_own(&one); },
                [this] { fail(std::current_exception()); });
    }
  }
  // The end of a task calls functions of the program, which may wait for a task that came with it.
  while (ends != nullptr) {
    auto& held = static_cast<held_end<>&>(*std::exchange(ends, ends->next_in_line));
    before_end(held);
    derived().end(here, *held.task);
    took(here, held);
  }
  here.runs_what_it_receives = outer;
  return any;
}

// Says that all items which this worker took have ended. Not to be called while a task of this source lies
// below on its stack.
template <class Derived, class Worker>
void task_source<Derived, Worker>::say_ended(Worker& here) noexcept {
  auto& mine = account(here.index);
  mine.waiting.store(derived().tasks_waiting(here), std::memory_order_relaxed);
  mine.say_ended(here.items());
}

// Items that the worker, in its place, began outside of this source's tasks end here if it may not run() any
// more: a guest that leaves has a last look only.
template <class Derived, class Worker>
void task_source<Derived, Worker>::settle_items(Worker& here) noexcept {
  if (account(here.index).ended.load(std::memory_order_relaxed) == here.items()) return;
  if (!here.ready.sees_own()) say_ended(here);
}

// ---- The task that is kept to run next ----

// It goes where others find it: the worker does something else for a while.
template <class Derived, class Worker>
void task_source<Derived, Worker>::share_kept(Worker& here) noexcept {
  try_count([&] {
    if (runnable* const next = here.ready.keep_next(nullptr)) share(here, next);
  });
}

// Between two tasks, now and then. Not inline: the loop that calls it would spill registers for it.
template <class Derived, class Worker>
[[gnu::noinline]] void task_source<Derived, Worker>::look_at_core(Worker& here) noexcept {
  const auto looked_at = this_core.asked_at();
  if (this_core.is_time_to_give_way()) leave_core(here);
  here.steps_out = shares_places() &&
                   (this_core.is_shared() ||
                    this_core.asked_at() - looked_at >= processor_clock::in(tasks_between_looks * long_body));
}

// Another program gets the core for a while.
template <class Derived, class Worker>
void task_source<Derived, Worker>::leave_core(Worker& here) noexcept {
  const bool has_own = here.ready.has_own();
  if (has_own && !shares_places()) return;  // no other worker may run these
  share_kept(here);
  leave(here);
  if (has_own) {
    account(here.index).left_at.store(0, std::memory_order_relaxed);  // they are not to wait for it
    published(runtime());
  }
  this_core.give_way();
  come_back(here);
}

// With priorities: the kept task goes where others find it, if another task is to run before. There may be
// one that is in no queue yet.
template <class Derived, class Worker>
void task_source<Derived, Worker>::compare_kept(Worker& here) noexcept {
  // In this order: a source that has no task yet may be about to be given its functions.
  if (here.ready.kept() == nullptr || !derived().has_priorities()) [[likely]]
    return;
  leave_if_forked();
  receive_outside(here);  // it may keep another task, and then thieves run the one that was kept
  if (here.ready.has_before(here.ready.kept()->priority)) share_kept(here);
}

}  // namespace teff::detail

// The other members: those that a worker calls when it is free.
#include <teff/detail/task_source/worker_turn.hpp>
