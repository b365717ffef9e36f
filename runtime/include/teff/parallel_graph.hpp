// parallel_graph: runs tasks that are numbered, each after its predecessors.
#pragma once

#include <teff/detail/graph/numbered_tasks.hpp>
#include <teff/detail/loops/indices.hpp>
#include <teff/detail/scheduler/on_workers.hpp>

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace teff {

// The second argument of a task of a parallel_graph: release(next) says that a predecessor of `next` has
// ended. To be used by the task, on its thread, as long as the call lasts. Throws misuse if there is no such
// task, over_fulfilled if that has been ready before.
template <loop_integer Task>
class graph_release {
 public:
  [[gnu::always_inline]] void operator()(Task next) const {
    if (!release_(next)) return;
    if (newest_ != release_.none()) push(ready_, newest_);
    newest_ = next;
  }

  // For parts of libteff.
  using releaser = typename detail::missing_predecessors<Task>::releaser;
  graph_release(const releaser& release, std::vector<Task>& ready) noexcept
      : release_(release), ready_(ready), newest_(release.none()) {}
  [[nodiscard]] Task newest() const noexcept { return newest_; }
  graph_release(const graph_release&) = delete;
  graph_release& operator=(const graph_release&) = delete;

 private:
  // Not inline, and by value: so bodies stay small enough to be inlined, and this object is in registers.
  [[gnu::noinline]] static void push(std::vector<Task>& ready, Task task) { ready.push_back(task); }

  const releaser& release_;
  std::vector<Task>& ready_;
  mutable Task newest_;  // that the task has made ready, not yet in `ready_`
};

// Runs the tasks 0 to count - 1 in parallel, each once, when it has been released as often as indegree(task)
// says; returns when all have run. body(task, release) does what the task does and releases its successors.
//
//   teff::parallel_graph(rows * columns,
//       [=](int cell) { return (cell >= columns ? 1 : 0) + (cell % columns > 0 ? 1 : 0); },
//       [&](int cell, const auto& release) {
//         compute(cell);
//         if (cell + columns < rows * columns) release(cell + columns);
//         if ((cell + 1) % columns > 0) release(cell + 1);
//       });
//
// - It is for a graph that is known beforehand: the compiler sees body, indegree and numbers together, and a
//   task takes some nanoseconds and 4 bytes. A task_graph (task_graph.hpp) has keys of any kind, places,
//   priorities and fulfilments from outside.
// - All that a task's predecessors did before they released it happens before the task.
// - Successors start when the body has ended: work after release() delays them.
// - indegree() is called once for each task, before any of them runs. A task whose indegree is 0 runs as soon
//   as the graph knows it: at once, since the graph knows all tasks by `count`.
// - A task must not wait for another one to run: a worker may keep several ready tasks to itself, as long as
//   tasks were short before.
// - A body may call anything, also loops, joins and other graphs. The workers share it.
// - The first exception that a body throws is thrown, when those bodies have ended that run; no other begins.
// - On a thread that is no worker, the graph runs within default_runtime().
//
// Throws negative_indegree; never_satisfied if tasks are left that nobody releases; std::bad_alloc.
template <loop_integer Task, class Indegree, class Body>
  requires std::is_invocable_r_v<int, Indegree&, Task> &&
           std::is_invocable_v<Body&, Task, const graph_release<Task>&>
void parallel_graph(Task count, Indegree&& indegree, Body&& body) {
  if (std::cmp_less_equal(count, 0)) return;
  detail::on_workers([&] {
    const detail::traced_span span(detail::event_kind::loop, detail::name_of<std::remove_cvref_t<Body>>());
    detail::missing_predecessors<Task> missing(count);
    std::vector<Task> roots;  // the first one last: it runs first
    // Not in parallel: each line of counters would then begin on another core than it is used on.
    for (Task left = count; left > 0; --left) {
      const auto task = static_cast<Task>(left - 1);
      if (missing.begin(task, std::invoke(indegree, task))) roots.push_back(task);
    }
    const auto ran =
        detail::numbered_tasks<Task, graph_release<Task>, std::remove_reference_t<Body>>(missing, body)
            .run(std::move(roots));
    if (std::cmp_not_equal(ran, count)) missing.refuse_the_end();
  });
}

}  // namespace teff
