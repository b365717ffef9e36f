// A source of many small tasks: how its workers run what is ready (src/task_source/README.md).
#pragma once

#include <teff/detail/exceptions.hpp>
#include <teff/detail/platform/processor_clock.hpp>
#include <teff/detail/ready/ready_tasks.hpp>
#include <teff/detail/scheduler/core_share.hpp>
#include <teff/detail/scheduler/frame.hpp>
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
// It may have functions in the place of those under "What a source may have" below. It has has_work() and
// take_from() if it calls share_places(). If it makes offers, it has accept(Worker&, runnable&). A worker
// calls that to take part in a worksharing task.
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
    return sees_own_work(worker) || !inbox_of(any_worker).empty() || sees_shared() ||
           sees_left_behind(worker, false);
  }
  bool run_own(unsigned worker) noexcept override { return !is_quiet(worker) && run(worker, true); }
  void step_back(unsigned worker) noexcept override;
  bool sees_own_work(unsigned worker) noexcept override;

 protected:
  task_source(scheduler& runtime, unsigned workers, const char* name)
      : task_source_base(runtime, workers, name) {}

  // A task becomes ready that any worker may run. Of those that a body makes ready, the one with the highest
  // priority is kept to run next, of equal ones the last; the others are shared. Throws std::bad_alloc; then
  // the source has failed.
  void make_ready(Worker& caller, runnable* task) {
    const runnable* const kept = caller.ready.kept();
    if (caller.keeps_next() && (kept == nullptr || kept->priority <= task->priority))
      task = caller.ready.keep_next(task);
    if (task != nullptr) share(caller, task);
  }
  // A task becomes ready that other workers are to find at once. Throws std::bad_alloc; then the source has
  // failed.
  void share(Worker& caller, runnable* ready);
  // Runs a ready task now, on the calling worker, even in the middle of another task.
  void run_at_once(Worker& caller, runnable* task) noexcept {
    const within turn(*this, &caller);
    execute(caller, task);
    if (caller.ready.sees_own()) [[unlikely]]
      begin_own_item(caller);  // for the tasks that it has left in the worker's queues
  }
  // Unless the worker is in the middle of one, begins an item that ends when the worker has run out of work.
  void begin_own_item(Worker& caller) noexcept {
    if (caller.running != nullptr) return;
    account(caller.index).begin_one();
    ++caller.items_received;
  }
  // The worker is about to use its own place. False: another thread does, for now.
  [[nodiscard]] bool enter_place(Worker& caller) noexcept {
    if (!account(caller.index).enter()) return false;
    caller.inside = caller.index;
    return true;
  }
  void leave_place(Worker& caller) noexcept {
    caller.inside = Worker::no_place;
    auto& place = account(caller.index);
    if (shares_places()) place.left_at.store(processor_clock::now(), std::memory_order_relaxed);  // a hint
    place.leave();
  }
  // The worker takes what lies in the inbox of the worker `of`, in whose place it is, or of the source.
  // before_end(held): of each end. Returns whether there was anything.
  template <class BeforeEnd>
  bool empty_inbox(Worker& caller, unsigned of, BeforeEnd before_end) noexcept;
  bool empty_inbox(Worker& caller, unsigned of) noexcept {
    return empty_inbox(caller, of, [](held_end<>&) {});
  }
  // After a body whose end is `held`: whether its handles were released before it returned. If not, end() is
  // called when they are.
  [[nodiscard]] bool ends_with_body(Worker& caller, held_end<>& held) noexcept;
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
  void end_if_forked() const noexcept {
    if (cancelled()) [[unlikely]]
      end_if_child(runtime());
  }

  // ---- What a source may have ----

  // Messages to the worker of `at`, beside its inbox: counts them. False: there were none.
  static bool receive(Worker& /*caller*/, Worker& /*at*/) noexcept { return false; }
  // Whether receive() would find something.
  [[nodiscard]] static bool sees_messages(const Worker& /*caller*/) noexcept { return false; }
  // Counts a key that came through the inbox of the worker of `at`, or of the source.
  static void accept_key(Worker& /*caller*/, Worker& /*at*/, runnable& /*key*/, bool /*has_place*/) noexcept {
  }
  // How many tasks, as the worker counts, wait for something.
  [[nodiscard]] static std::int64_t tasks_waiting(const Worker& /*caller*/) noexcept { return 0; }
  // The only worker that can end() a task of this one, or any_worker.
  [[nodiscard]] static unsigned ends_on(const Worker& /*caller*/, const runnable& /*task*/) noexcept {
    return any_worker;
  }
  // Whether the task was taken from the place of another worker.
  [[nodiscard]] static bool was_taken(const runnable& /*task*/) noexcept { return false; }

 private:
  [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }

  // Whether there is a task that any worker may steal.
  [[nodiscard]] bool sees_shared() noexcept {
    for (unsigned i = 0; i < workers(); ++i)
      if (derived().state(i).ready.sees_shared()) return true;
    return false;
  }
  // `own`: only one task that no other worker may run.
  bool run(unsigned worker, bool own) noexcept;
  void execute(Worker& caller, runnable* task) noexcept;
  void run_body(Worker& caller, runnable& task) noexcept {
    catch_all([&] { derived().run_body(caller, task); }, [this] { fail(std::current_exception()); });
  }
  void run_body_outside(Worker& caller, runnable& task) noexcept;
  void come_back(Worker& caller) noexcept;
  bool receive_all(Worker& caller) noexcept {
    const bool received = derived().receive(caller, caller);
    return (!inbox_of(caller.index).empty() && empty_inbox(caller, caller.index)) || received;
  }
  bool receive_outside(Worker& caller) noexcept {
    return !inbox_of(any_worker).empty() && empty_inbox(caller, any_worker);
  }
  void share_kept(Worker& caller) noexcept;
  void look_at_core(Worker& caller) noexcept;
  void give_core_away(Worker& caller) noexcept;
  void compare_kept(Worker& caller) noexcept;
  // The end that was held, an item, is done.
  void took(Worker& caller, held_end<>& held) noexcept {
    ++caller.items_received;
    account(caller.index).count_held(-1);
    delete &held;
  }
  void say_ended(Worker& caller) noexcept;
  void settle_items(Worker& caller) noexcept;

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
};

template <class Derived, class Worker>
void task_source<Derived, Worker>::share(Worker& caller, runnable* ready) {
  const bool by_priority = derived().has_priorities();
  // Anything that can throw comes before the item begins.
  fail_if_thrown([&] { caller.ready.make_room(by_priority); });
  account(caller.index).begin_one();
  caller.ready.push_shared(ready, by_priority);
  published(runtime());
}

// ---- A task runs and ends ----

template <class Derived, class Worker>
void task_source<Derived, Worker>::execute(Worker& caller, runnable* task) noexcept {
  if constexpr (requires { derived().accept(caller, *task); }) {
    if (task->kind == runnable_kind::offer) [[unlikely]] {
      end_if_forked();
      return derived().accept(caller, *task);
    }
  }
  if (!cancelled()) [[likely]] {
    running_task mine{task};
    auto* const outer = std::exchange(caller.running, &mine);
    if (caller.steps_out || derived().was_taken(*task)) [[unlikely]] {
      run_body_outside(caller, *task);
    } else {
      run_body(caller, *task);
    }
    caller.running = outer;
    if (mine.held != nullptr && !ends_with_body(caller, *mine.held)) [[unlikely]]
      return;
  } else {
    end_if_forked();
  }
  derived().end(caller, *task);
}

// Other workers may take the tasks in the place, until the body fulfils a key there.
template <class Derived, class Worker>
[[gnu::noinline]] void task_source<Derived, Worker>::run_body_outside(Worker& caller,
                                                                      runnable& task) noexcept {
  leave_place(caller);
  run_body(caller, task);
  come_back(caller);
}

// Another thread is in the place for a short time only, and waits for no place.
template <class Derived, class Worker>
void task_source<Derived, Worker>::come_back(Worker& caller) noexcept {
  while (caller.inside != caller.index && !enter_place(caller)) {
    end_if_forked();
    give_way();
  }
}

template <class Derived, class Worker>
[[gnu::noinline]] bool task_source<Derived, Worker>::ends_with_body(Worker& caller,
                                                                    held_end<>& held) noexcept {
  if (!held.let_go()) return false;
  took(caller, held);
  return true;
}

// ---- Items from other threads ----

// Any worker may take the tasks from the inbox of the source: the oldest runs next here. Tasks whose last
// handle was released after the body had returned end.
template <class Derived, class Worker>
template <class BeforeEnd>
[[gnu::noinline]] bool task_source<Derived, Worker>::empty_inbox(Worker& caller, unsigned of,
                                                                 BeforeEnd before_end) noexcept {
  const bool for_any = of == any_worker;
  // Of the tasks that any worker may run the newest first: the worker keeps the last one.
  auto* each = for_any ? inbox_of(of).take_newest_first() : inbox_of(of).take_all();
  const bool any = each != nullptr;
  const bool outer = std::exchange(caller.runs_what_it_receives, for_any);
  runnable* ends = nullptr;
  runnable** last_end = &ends;
  while (each != nullptr) {
    auto& one = *std::exchange(each, each->next_in_line);
    if (one.kind == runnable_kind::end) {
      one.next_in_line = nullptr;
      *std::exchange(last_end, &one.next_in_line) = &one;
    } else if (one.kind == runnable_kind::key) {
      derived().accept_key(caller, for_any ? caller : derived().state(of), one, !for_any);
    } else {
      ++caller.items_received;
      catch_all([&] { for_any ? make_ready(caller, &one) : caller.ready.push_own(&one); },
                [this] { fail(std::current_exception()); });
    }
  }
  // The end of a task calls functions of the program, which may wait for a task that came with it.
  while (ends != nullptr) {
    auto& held = static_cast<held_end<>&>(*std::exchange(ends, ends->next_in_line));
    before_end(held);
    derived().end(caller, *held.task);
    took(caller, held);
  }
  caller.runs_what_it_receives = outer;
  return any;
}

// Says that all items which this worker took have ended. Not to be called while a task of this source lies
// below on its stack.
template <class Derived, class Worker>
void task_source<Derived, Worker>::say_ended(Worker& caller) noexcept {
  auto& mine = account(caller.index);
  mine.waiting.store(derived().tasks_waiting(caller), std::memory_order_relaxed);
  mine.say_ended(caller.items());
}

// Items that the worker, in its place, began outside of this source's tasks end here if it may not run() any
// more: a guest that leaves has a last look only.
template <class Derived, class Worker>
void task_source<Derived, Worker>::settle_items(Worker& caller) noexcept {
  if (account(caller.index).ended.load(std::memory_order_relaxed) == caller.items()) return;
  if (!caller.ready.sees_own()) say_ended(caller);
}

// ---- The task that is kept to run next ----

// It goes where others find it: the worker does something else for a while.
template <class Derived, class Worker>
void task_source<Derived, Worker>::share_kept(Worker& caller) noexcept {
  try_count([&] {
    if (runnable* const next = caller.ready.keep_next(nullptr)) share(caller, next);
  });
}

// Between two tasks, now and then. Not inline: the loop that calls it would spill registers for it.
template <class Derived, class Worker>
[[gnu::noinline]] void task_source<Derived, Worker>::look_at_core(Worker& caller) noexcept {
  const auto looked_at = this_core.asked_at();
  if (this_core.is_time_to_give_way()) give_core_away(caller);
  caller.steps_out =
      shares_places() && (this_core.is_shared() || this_core.asked_at() - looked_at >=
                                                       processor_clock::in(tasks_between_looks * long_body));
}

// Another program gets the core for a while.
template <class Derived, class Worker>
void task_source<Derived, Worker>::give_core_away(Worker& caller) noexcept {
  const bool has_own = caller.ready.has_own();
  if (has_own && !shares_places()) return;  // no other worker may run these
  share_kept(caller);
  leave_place(caller);
  if (has_own) {
    account(caller.index).left_at.store(0, std::memory_order_relaxed);  // they are not to wait for it
    published(runtime());
  }
  this_core.give_way();
  come_back(caller);
}

// With priorities: the kept task goes where others find it, if another task is to run before. There may be
// one that is in no queue yet.
template <class Derived, class Worker>
void task_source<Derived, Worker>::compare_kept(Worker& caller) noexcept {
  // In this order: a source that has no task yet may be about to be given its functions.
  if (caller.ready.kept() == nullptr || !derived().has_priorities()) [[likely]]
    return;
  end_if_forked();
  receive_outside(caller);  // it may keep another task, and then thieves run the one that was kept
  if (caller.ready.has_before(caller.ready.kept()->priority)) share_kept(caller);
}

}  // namespace teff::detail

// The other members: those that a worker calls when it is free.
#include <teff/detail/task_source/worker_turn.hpp>
