#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "teff/bench/identity.hpp"

/// The ways to be parallel in which the programs are written. A system has the class `program_system` in its
/// folder's programs.hpp, which is constructed with the number of workers and has
///
///   bench::identity describe() const;
///   static int default_workers();        only if that is not bench::usable_cores().
///
/// and the functions of some of these ways, each as the system's own users would write it. They are called on
/// the main thread, and time counts from the call to the return.
///
/// Fork-join:
///
///   void run_tasks(body);                calls body() once, where tasks may be made.
///   static void invoke(f, g);            calls f() and g(), which may run in parallel.
///   static void scope(body);             calls body(tasks), in which tasks.spawn(f) makes a copy of f a
///                                        task. Returns when all of them have run. Tasks may call both, too.
///
/// Loops:
///
///   void run_loops(body);                calls body() once, in the place from which the system's users start
///                                        many loops, one after the other.
///   void parallel_for(first, last, grain, f);  calls f(i) for all i. Free workers take blocks of `grain`
///                                        indices; 0 means the system's default division. The program calls
///                                        it on the main thread, or in run_loops.
///   T sum<T>(first, last, f);            returns the sum of all f(i), added in any order.
///
/// Task graphs: void run_graph(graph) runs tasks that are numbered from 0, no task before its predecessors,
/// which have smaller numbers (`task_graph` below).
///
/// Pipelines: void run_pipeline(items, tokens, stages...) passes the items 0 to items - 1 through all stages,
/// at most `tokens` of them at a time. The first and the last stage take them one by one in order.
///
/// Requests, from the main thread:
///
///   T request(f);                        runs f() as a task and waits for its value.
///   void request_all(count, f);          runs f(i) as a task for each i from 0 to count - 1; waits for all.
namespace teff::programs {

/// The receiver of a task's successors.
struct any_visitor {
  void operator()(std::int64_t) const {}
};

/// A graph of tasks whose edges are functions of the task's number. Its functions may be called on several
/// threads at once.
template <class Graph>
concept task_graph = requires(const Graph& graph, std::int64_t task) {
  { graph.tasks() } -> std::same_as<std::int64_t>;
  { graph.indegree(task) } -> std::same_as<int>;
  graph.execute(task);
  graph.predecessors(task, any_visitor());
  graph.successors(task, any_visitor());
};
inline constexpr int most_predecessors = 4;  ///< of a task

/// The indegree of a task, of a graph that does not know it better.
template <class Graph>
[[nodiscard]] int count_predecessors(const Graph& graph, std::int64_t task) {
  int count = 0;
  graph.predecessors(task, [&count](std::int64_t) { ++count; });
  return count;
}

enum class order : std::uint8_t { in_turn, any };

/// A stage of a pipeline: run(item), for one item after the other or for several at once.
template <order Order, class Body>
struct pipeline_stage {
  static constexpr bool is_in_turn = Order == order::in_turn;
  Body run;
};
template <order Order, class Body>
[[nodiscard]] auto stage(Body body) {
  return pipeline_stage<Order, Body>{std::move(body)};
}

/// For concepts only: a graph, and a stage.
struct any_graph {
  [[nodiscard]] static std::int64_t tasks() { return 0; }
  [[nodiscard]] static int indegree(std::int64_t) { return 0; }
  static void execute(std::int64_t) {}
  static void predecessors(std::int64_t, auto&&) {}
  static void successors(std::int64_t, auto&&) {}
};
struct any_body {
  void operator()(std::int64_t) const {}
};
using any_stage = pipeline_stage<order::in_turn, any_body>;

template <class System>
concept has_fork_join = requires(System& system) {
  system.run_tasks([] {});
  System::invoke([] {}, [] {});
  System::scope([](auto& tasks) { tasks.spawn([] {}); });
};
template <class System>
concept has_loops = requires(System& system, std::int64_t i) {
  system.run_loops([] {});
  system.parallel_for(i, i, i, any_body());
  {
    system.template sum<double>(i, i, [](std::int64_t) { return 1.0; })
  } -> std::same_as<double>;
};
template <class System>
concept has_graphs = requires(System& system) { system.run_graph(any_graph()); };
template <class System>
concept has_requests = requires(System& system, std::int64_t i) {
  {
    system.request([] { return std::uint64_t{}; })
  } -> std::same_as<std::uint64_t>;
  system.request_all(i, any_body());
};
template <class System>
concept has_pipelines = requires(System& system, std::int64_t i) {
  system.run_pipeline(i, i, any_stage(), any_stage(), any_stage());
};

}  // namespace teff::programs
