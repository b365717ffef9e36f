// task_graph: tasks that are named by a key and start when what they depend on has been done.
#pragma once

#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/graph/traced_body.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/runtime.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {
struct graph_access;  // replay.hpp
}  // namespace detail

// What place() may answer: any worker may run the task.
inline constexpr unsigned anywhere = detail::any_worker;

// A graph of tasks that is never stored: functions of a task's key say what the task is. A task is known from
// the first of its dependences that is fulfilled until it has run, so memory grows with the frontier only.
//
//   teff::task_graph<std::array<int, 2>> g{rt};  // task (step, column)
//   g.indegree([](auto k) { return k[0] == 0 ? 0 : 3; })
//    .body([&](auto k) {
//      compute(k);
//      if (k[0] + 1 < steps)
//        for (int column : neighbours(k[1])) g.fulfill({k[0] + 1, column});
//    });
//   for (int column = 0; column < width; ++column) g.fulfill({0, column});
//   g.wait();
//
// - A task runs once fulfill() has been called for its key as often as indegree() says; one whose indegree is
//   0 starts with one call, too. What was done before each of the calls happens before the task.
// - The functions may be called on any worker, at once and repeatedly, and give the same answer for the same
//   key. They are set before the first fulfill().
// - Successors that run on the same worker start when the body has ended: what it does after fulfill() delays
//   them.
// - The runtime outlives the graph. A graph can be used again after wait().
//
// `Key` is copyable and comparable by ==; `Hash` as key_hash. Small keys that are trivially copyable
// (integers, arrays of integers) travel between workers by value, others take an allocation then.
template <std::copyable Key, class Hash = key_hash<Key>>
class task_graph {
 public:
  explicit task_graph(runtime& rt)
      : graph_(std::make_shared<detail::keyed_graph<Key, Hash>>(rt.internals(), rt.workers())) {
    detail::attach(rt.internals(), graph_);
  }
  // Without a wait() before, tasks that have not begun are dropped, with a line on stderr that says so.
  ~task_graph() {
    graph_->abandon_if_unfinished();
    detail::detach(graph_->runtime(), *graph_);
  }
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;

  // How many calls of fulfill() the task of a key needs.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  task_graph& indegree(F&& f) {
    graph_->functions.indegree.set(std::forward<F>(f));
    return *this;
  }
  // What the task of a key does; a trace calls it as named() says. If it throws, the graph ends: tasks that
  // have not begun are dropped, and wait() throws the exception.
  template <class F>
    requires std::is_invocable_v<F&, const Key&>
  task_graph& body(F&& f) {
    graph_->functions.body.set(detail::traced_body<std::decay_t<F>>{std::forward<F>(f)});
    return *this;
  }
  // Which worker runs the task of a key, modulo their number: no other does. Or `anywhere`, as without
  // place(). A key that has a place is counted by its worker alone, without any atomic operation; the others
  // in 65,536 chains, so that a fulfilment takes the longer the more than that wait at a time.
  template <class F>
    requires std::is_invocable_r_v<unsigned, F&, const Key&>
  task_graph& place(F&& f) {
    graph_->functions.place.set(std::forward<F>(f));
    return *this;
  }
  // Of the tasks that are ready on one worker, the one with the highest runs first; a worker that has none
  // takes the highest of another's that have no place. Of equal ones a task with a place comes first, and of
  // these the one that has been ready for longest; of those without a place the newest. 0 by default.
  //
  // It costs a task without a place a lock each time it goes in and out, so it is for tasks of some
  // microseconds.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  task_graph& priority(F&& f) {
    graph_->functions.priority.set(std::forward<F>(f));
    return *this;
  }
  // Called on the worker that a key is placed on for every fulfill() from elsewhere, before it counts, with
  // the very key that was passed. Parts of the key that == and the hash leave out can so bring a small result
  // along, on the cache line that has to come anyway.
  //
  // If it returns false, the key does not count, and needs no task: arrived() has done all there was to do.
  // It may fulfil keys, so one message can tell a worker of the end of a task that many of its own wait for:
  //
  //    .arrived([&](key k) {
  //      if (!k.is_end_of_task) return true;
  //      for (key next : successors_of(k)) if (place(next) == teff::worker_index()) g.fulfill(next);
  //      return false;
  //    })
  //
  // A graph that says so of a key while it is recorded (replay.hpp) has the recording throw not_replayable.
  template <class F>
    requires std::is_invocable_v<F&, const Key&>
  task_graph& arrived(F&& f) {
    if constexpr (std::is_void_v<std::invoke_result_t<F&, const Key&>>) {
      graph_->functions.arrived.set([each = std::forward<F>(f)](const Key& key) mutable {
        std::invoke(each, key);
        return true;
      });
    } else {
      graph_->functions.arrived.set(std::forward<F>(f));
    }
    return *this;
  }

  // One of the dependences of a key's task has been done. Any thread may call it. Throws what the graph's
  // functions throw, std::bad_alloc, runtime_was_shut_down.
  //
  // One call too many while the task waits to run or runs has wait() throw over_fulfilled. After the task has
  // run, it is a first call for a new task.
  void fulfill(const Key& key) { graph_->fulfill(key); }

  // Returns when all tasks have run that can. On a worker it runs tasks meanwhile, else it blocks. Calls of
  // fulfill() that don't come from tasks must have happened before.
  //
  // Throws the first exception of a body; over_fulfilled; never_satisfied if keys are left that wait for
  // calls that nobody will make; graph_waits_for_itself where it would never end; runtime_was_shut_down. All
  // who wait are told.
  void wait() { graph_->wait(); }

 private:
  friend detail::graph_access;
  std::shared_ptr<detail::keyed_graph<Key, Hash>> graph_;
};

}  // namespace teff
