// task_graph: tasks that have a key as their name, and start when what they depend on is done.
#pragma once

#include <teff/attach.hpp>
#include <teff/detail/graph/graph_functions.hpp>
#include <teff/detail/graph/keyed_graph.hpp>
#include <teff/detail/graph/keys.hpp>
#include <teff/detail/scheduler/source.hpp>
#include <teff/error.hpp>
#include <teff/runtime.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace teff {

namespace detail {
struct graph_access;  // replay.hpp
}  // namespace detail

// The hash of a key, equal for keys that == finds equal. The first of these that fits:
//
// - integers, enumerations, pointers, and arrays, pairs and tuples of them without padding: by their bytes
// - what std::hash is specialised for: by that
// - arrays, pairs and tuples: by the key_hash of their parts
// - ranges whose == compares the elements in order, as std::vector's: by the key_hash of the elements
// - structures of up to six fields, without arrays and base classes: by the key_hash of their fields. Other
//   structures without padding: by their bytes. Their == must compare all fields, as a defaulted one does;
//   else specialise std::hash
//
// For any other key, specialise std::hash or key_hash, or pass another class of this form as task_graph's
// second argument.
template <class Key>
struct key_hash {
  std::size_t operator()(const Key& key) const noexcept {
    if constexpr (detail::plain_bytes<Key>) {
      return detail::hash_of_bytes(key);
    } else if constexpr (detail::with_std_hash<Key>) {
      return detail::mixed(std::hash<Key>{}(key));
    } else if constexpr (detail::tuple_like<Key>) {
      return detail::hash_of_parts(key);
    } else if constexpr (detail::plain_structure<Key>) {
      return detail::hash_of_structure(key);
    } else if constexpr (detail::sequence<Key>) {
      return detail::hash_of_elements(key);
    } else if constexpr (detail::with_fields<Key>) {
      return detail::hash_of_parts(detail::fields_of(key));
    } else {
      static_assert(
          detail::is_hashable<Key>,
          "the key of a teff::task_graph has no hash: specialise std::hash or teff::key_hash for its "
          "type, or pass a hash as second argument");
    }
  }
};

// place() returns this for a task that any worker may run.
inline constexpr unsigned anywhere = detail::any_worker;

// Whether the place of a task binds. If its worker does not get to the task, another worker may run it
// (should), or none may (must).
enum class placement : bool { should, must };

// A graph of tasks that is never stored. Functions of a task's key say how many dependences the task has, how
// it does its work, and where it runs. A task takes memory from its first fulfilled dependence until it has
// run, so memory grows with the frontier only.
//
//   teff::task_graph<std::array<int, 2>> g{rt};  // task (step, column)
//   g.indegree([](auto k) { return k[0] == 0 ? 0 : 3; })
//    .body([&](auto k) {
//      compute(k);
//      if (k[0] + 1 < steps)
//        for (int column : neighbours(k[1])) g.fulfill({k[0] + 1, column});
//    });
//   for (int column = 0; column < width; ++column) g.start({0, column});
//   g.wait();
//
// - A task runs once fulfill() has been called for its key as often as indegree() says. All that callers did
//   before these calls happens before the task.
// - A task whose indegree is 0 runs as soon as the graph knows its key. The program names it by start(). A
//   task_graph knows no other keys than those that were started or fulfilled, so wait() does not miss a task
//   that the program has forgotten to start. (A parallel_graph knows all of its tasks by their number.)
// - The functions may be called on any worker, on several at once, and repeatedly. They return the same for
//   the same key. Set them before the first start() or fulfill().
// - Successors that run on the same worker start when the body has ended: work after fulfill() delays them.
// - The runtime outlives the graph, and the graph outlives every call of fulfill(). Wait also for the thread
//   that makes the last call, since its task may run before the call returns. A graph can be used again after
//   wait().
//
// `Key` is copyable and comparable by ==; `Hash` as key_hash. Small keys that are trivially copyable
// (integers, arrays of integers) travel between workers by value; any other key travels in a block of the
// graph's memory.
template <std::copyable Key, class Hash = key_hash<Key>>
class task_graph {
 public:
  explicit task_graph(runtime& rt)
      : graph_(std::make_shared<detail::keyed_graph<Key, Hash>>(detail::private_access::internals(rt),
                                                                rt.workers())) {
    detail::attach(detail::private_access::internals(rt), graph_);
  }
  // If tasks are left, says so on stderr. It drops the tasks that have not begun, and waits for the tasks
  // that run. If a body has thrown an exception that no wait() has thrown, it prints the text of the
  // exception there, too. Then it destroys the functions that were set, unless a recording keeps them. A task
  // of the graph may not destroy it: that ends the program, with graph_waits_for_itself.
  ~task_graph() {
    graph_->abandon_if_unfinished();
    if (graph_->has_runtime()) detail::detach(graph_->runtime(), *graph_);
  }
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;

  // Sets how many calls of fulfill() the task of a key needs; 0 if it depends on nothing. Where it is
  // negative, fulfill() throws negative_indegree, or wait() does: as if the function had thrown it.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  task_graph& indegree(F&& f) {
    graph_->functions.indegree.template set<Key>(std::forward<F>(f));
    return *this;
  }
  // Sets what the task of a key does. A trace shows the name that named() has given to it. If a body throws,
  // tasks that have not begun are dropped, and wait() throws the exception.
  template <class F>
    requires std::is_invocable_v<F&, const Key&>
  task_graph& body(F&& f) {
    graph_->functions.body.template set<Key>(detail::traced_body<std::decay_t<F>>{std::forward<F>(f)});
    return *this;
  }
  // Sets which worker runs the task of a key: the index of a worker, or `anywhere`, as without place(). If
  // there is no such worker, fulfill() throws misuse, or wait() does: as if the function had thrown it.
  //
  // That worker counts the key, without any atomic operation. Keys without a place are counted in a table
  // that all workers share.
  //
  // If that worker does not get to its tasks, another worker that looks for work runs them. Causes are
  // another program that has the worker's core, and a task in which the worker has been for some ten
  // microseconds. So two tasks of one place may run at a time. With placement::should no program may rely on
  // another worker.
  //
  // With placement::must no other worker runs them. So tasks of one place may share data without locks, as
  // long as their bodies do not wait. A body waits at the end of a join, a scope or a loop, and in wait(),
  // get() and blocking(). A worker that waits within a body runs other tasks meanwhile, also of the same
  // place.
  template <class F>
    requires std::is_invocable_r_v<unsigned, F&, const Key&>
  task_graph& place(F&& f, placement binds = placement::should) {
    graph_->functions.place.template set<Key>(std::forward<F>(f));
    graph_->prefer_places(binds == placement::should);
    return *this;
  }
  // Says that keys are numbered: number(key) is another one for each key, and below `count`. Without
  // `number`, keys are integers and their own numbers. Keys without a place are then counted in an array and
  // not in a table, in a fraction of the time: use it for tasks below some microseconds. The array takes 4
  // bytes for each of `count` keys, whether their tasks are waiting or not.
  //
  // A number that is not below `count` is misuse. fulfill() throws it on a worker, which counts the key at
  // once; wait() throws it where a body lets it pass, and where a thread from outside called fulfill(), which
  // counts nothing itself. A key with a place needs no number, and its own is not looked at.
  //
  //    teff::task_graph<int> g{rt};
  //    g.dense(rows * columns).indegree(...).body(...);
  //
  //    teff::task_graph<std::array<int, 2>> h{rt};
  //    h.dense(rows * columns, [=](auto k) { return k[0] * columns + k[1]; });
  task_graph& dense(std::size_t count)
    requires std::integral<Key>
  {
    graph_->count_by_number(count);
    return *this;
  }
  template <class F>
    requires std::is_invocable_r_v<std::size_t, F&, const Key&>
  task_graph& dense(std::size_t count, F&& number) {
    graph_->functions.number.template set<Key>(std::forward<F>(number));
    graph_->count_by_number(count);
    return *this;
  }
  // Sets the priority of a key's task, 0 by default. Of the tasks that are ready on one worker, the one with
  // the highest priority runs first. A worker that has no ready task steals the one with the highest priority
  // among another worker's tasks without a place. Among tasks of equal priority, those with a place run
  // first, in the order in which they became ready; then those without a place, the newest first.
  //
  // With priorities, a worker takes a lock whenever it queues or takes a task without a place. So use them
  // for tasks of some microseconds and more.
  template <class F>
    requires std::is_invocable_r_v<int, F&, const Key&>
  task_graph& priority(F&& f) {
    graph_->functions.priority.template set<Key>(std::forward<F>(f));
    return *this;
  }
  // Sets a function for keys that are sent: a key with a place is sent there by any other thread that fulfils
  // it. No thread sends a key without a place. As a rule, the worker of the place does not send a key that it
  // fulfils itself. The worker of the place calls the function before the fulfilment counts. It passes the
  // very key that was passed to fulfill(). So parts of the key that == and the hash ignore can carry a small
  // result, on the cache line that crosses anyway.
  //
  // With placement::should, another worker may take a task from its place. That task sends each key that has
  // a place. The other worker calls the function for the keys that it finds in the place. Two workers never
  // call it for one place at a time.
  //
  // If it returns false, the fulfilment does not count, and the key needs no task. The function may fulfil
  // keys itself. So one message can tell a worker that a task has ended for which many of the worker's tasks
  // wait:
  //
  //    .received([&](key k) {
  //      if (!k.is_end_of_task) return true;
  //      for (key next : successors_of(k)) if (place(next) == place(k)) g.fulfill(next);
  //      return false;
  //    })
  //
  // If it returns false while the graph is recorded, record() (replay.hpp) throws not_replayable.
  template <class F>
    requires detail::says_whether<F, const Key&>
  task_graph& received(F&& f) {
    graph_->functions.received.template set<Key>(std::forward<F>(f));
    return *this;
  }

  // Names a task that depends on nothing: it is ready. Any thread may call it. Throws misuse if the key's
  // indegree is positive, and what fulfill() throws. (fulfill() of such a key does the same.)
  void start(const Key& key) { graph_->start(key, "teff::task_graph::start"); }

  // Says that one of the dependences of a key's task is done; the last one makes the task ready. Any thread
  // may call it, and it waits for no task. Throws what place() throws, std::bad_alloc,
  // runtime_was_shut_down. It also throws what the other functions throw, and misuse of a bad number, where
  // the key is counted at once: on a worker, if it has no place or is placed there. Else another worker
  // counts it later, and wait() throws that.
  //
  // If it is called once too often before the task has ended, wait() throws over_fulfilled. When the task has
  // ended, or another worker has taken it from its place, the next call is the first one for a new task of
  // that key.
  void fulfill(const Key& key) { graph_->fulfill(key); }

  // In the body of a task, on the thread of that body: holds the end of the task until the handle is released
  // (held_task). A task that holds nothing costs nothing more. Throws misuse anywhere else; not_replayable
  // while the graph is recorded or replayed; std::bad_alloc.
  [[nodiscard]] held_task hold_end() {
    return held_task(graph_->hold_end_of_body("teff::task_graph::hold_end"));
  }

  // Returns when all tasks have run that can. A worker runs tasks while it waits, first tasks of this graph;
  // any other thread blocks. Calls of fulfill() that don't come from tasks must have happened before.
  //
  // Throws the first exception of a body; over_fulfilled; never_satisfied if keys are left that wait for
  // calls that nobody will make; graph_waits_for_itself where it could never return; runtime_was_shut_down.
  // If several threads wait, each call throws that waits then. After that the graph is empty: the keys that
  // were left are forgotten, and a later wait() has nothing to report unless something new went wrong.
  void wait() { graph_->wait(); }

 private:
  friend detail::graph_access;
  std::shared_ptr<detail::keyed_graph<Key, Hash>> graph_;
};

}  // namespace teff
