// Programs on OpenMP: task and taskwait, parallel for, reductions, and depend clauses for graphs and
// pipelines.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime.hpp"
#include "teff/programs/ways.hpp"

namespace {

using namespace teff::programs;

class program_system {
 public:
  explicit program_system(int workers) : team_(start_team(workers)) {
#pragma omp parallel
    bind_thread();
  }
  static int default_workers() { return cores(); }

  [[nodiscard]] teff::bench::identity describe() const { return identify("program", team_); }

  template <class Body>
  static void run_tasks(const Body& body) {
#pragma omp parallel
#pragma omp single
    body();
  }
  template <class First, class Second>
  static void invoke(const First& first, const Second& second) {
#pragma omp task shared(first)
    first();
    second();
#pragma omp taskwait
  }
  struct tasks {
    template <class Function>
    void spawn(Function function) const {
#pragma omp task firstprivate(function)
      function();
    }
  };
  template <class Body>
  static void scope(const Body& body) {
    const tasks all;
    body(all);
#pragma omp taskwait
  }

  template <class Body>
  static void run_loops(const Body& body) {
    body();
  }
  template <class Body>
  static void parallel_for(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
    parallel_blocks(first, last, grain, [&body](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) body(i);
    });
  }
  template <class T, class Body>
  [[nodiscard]] static T sum(std::int64_t first, std::int64_t last, const Body& body) {
    T total{};
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (std::int64_t i = first; i < last; ++i) total += body(i);
    return total;
  }

  /// A byte stands for a task's output.
  template <task_graph Graph>
  static void run_graph(const Graph& graph) {
    std::vector<char> outputs(static_cast<std::size_t>(graph.tasks()));
    char* const output = outputs.data();
#pragma omp parallel
#pragma omp single
    for (std::int64_t task = 0; task < graph.tasks(); ++task) {
      std::array<std::int64_t, most_predecessors> predecessors{};
      const std::int64_t* const inputs = predecessors.data();
      std::size_t count = 0;
      graph.predecessors(task, [&](std::int64_t each) { predecessors[count++] = each; });
#pragma omp task depend(iterator(std::size_t i = 0 : count), in : output[inputs[i]]) \
    depend(out : output[task]) firstprivate(task)
      graph.execute(task);
    }
  }

  /// A token stands for the item that has it, a stage in turn for its last item.
  template <class... Stage>
  static void run_pipeline(std::int64_t items, std::int64_t tokens, const Stage&... stages) {
    std::vector<char> held(static_cast<std::size_t>(tokens));
    std::array<char, sizeof...(Stage)> turns{};
#pragma omp parallel
#pragma omp single
    for (std::int64_t item = 0; item < items; ++item) {
      char* const token = &held[static_cast<std::size_t>(item % tokens)];
      char* turn = turns.data();
      (make_stage(stages, item, token, turn++), ...);
    }
  }

 private:
  template <class Stage>
  static void make_stage(const Stage& stage, std::int64_t item, char* token, char* turn) {
    if constexpr (Stage::is_in_turn) {
#pragma omp task depend(inout : *token, *turn) firstprivate(item) shared(stage)
      stage.run(item);
    } else {
#pragma omp task depend(inout : *token) firstprivate(item) shared(stage)
      stage.run(item);
    }
  }

  int team_;
};

}  // namespace
