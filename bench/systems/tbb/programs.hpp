// Programs on oneTBB: parallel_invoke, task_group, parallel_for, parallel_reduce and parallel_pipeline. A
// graph is a task_group whose tasks count their successors' predecessors: quicker than the flow graph's
// nodes.
#pragma once

#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "parallel_blocks.hpp"
#include "pinned_arena.hpp"
#include "teff/programs/ways.hpp"

namespace {

using namespace teff::programs;

class program_system {
 public:
  explicit program_system(int workers) : arena_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "tbb", .variant = "program", .version = tbb_version(), .workers = arena_.workers()};
  }

  template <class Body>
  void run_tasks(const Body& body) {
    arena_.execute([&] { body(); });
  }
  template <class First, class Second>
  static void invoke(const First& first, const Second& second) {
    tbb::parallel_invoke(first, second);
  }
  struct tasks {
    tbb::task_group group;

    template <class Function>
    void spawn(Function function) {
      group.run(function);
    }
  };
  template <class Body>
  static void scope(const Body& body) {
    tasks all;
    body(all);
    all.group.wait();
  }

  template <class Body>
  void run_loops(const Body& body) {
    arena_.execute([&] { body(); });
  }
  template <class Body>
  void parallel_for(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
    arena_.execute([&] {
      parallel_blocks(first, last, grain, [&body](std::int64_t i, std::int64_t end) {
        for (; i != end; ++i) body(i);
      });
    });
  }
  template <class T, class Body>
  [[nodiscard]] T sum(std::int64_t first, std::int64_t last, const Body& body) {
    T total{};
    arena_.execute([&] {
      total = tbb::parallel_reduce(
          range(first, last), T{},
          [&body](const range& some, T part) {
            for (std::int64_t i = some.begin(); i != some.end(); ++i) part += body(i);
            return part;
          },
          std::plus<>());
    });
    return total;
  }

  template <task_graph Graph>
  void run_graph(const Graph& graph) {
    arena_.execute([&] {
      counted_tasks<Graph> all(graph);
      all.run();
    });
  }

  template <class Body>
  [[nodiscard]] auto request(const Body& body) {
    decltype(body()) value{};
    arena_.execute([&] {
      tbb::task_group group;
      group.run([&] { value = body(); });
      group.wait();
    });
    return value;
  }
  template <class Body>
  void request_all(std::int64_t count, const Body& body) {
    arena_.execute([&] {
      tbb::task_group group;
      for (std::int64_t i = 0; i < count; ++i) group.run([&body, i] { body(i); });
      group.wait();
    });
  }

  template <class First, class... Rest>
  void run_pipeline(std::int64_t items, std::int64_t tokens, const First& first, const Rest&... rest) {
    std::int64_t next = 0;
    const auto input = tbb::make_filter<void, std::int64_t>(tbb::filter_mode::serial_in_order,
                                                            [&](tbb::flow_control& control) -> std::int64_t {
                                                              if (next == items) {
                                                                control.stop();
                                                                return 0;
                                                              }
                                                              first.run(next);
                                                              return next++;
                                                            });
    arena_.execute([&] { tbb::parallel_pipeline(static_cast<std::size_t>(tokens), joined(input, rest...)); });
  }

 private:
  using range = tbb::blocked_range<std::int64_t>;

  template <class Graph>
  class counted_tasks {
   public:
    explicit counted_tasks(const Graph& graph)
        : graph_(graph), missing_(static_cast<std::size_t>(graph.tasks())) {}

    void run() {
      for (std::int64_t task = 0; task < graph_.tasks(); ++task)
        missing_[static_cast<std::size_t>(task)].store(graph_.indegree(task), std::memory_order_relaxed);
      for (std::int64_t task = 0; task < graph_.tasks(); ++task)
        if (graph_.indegree(task) == 0) spawn(task);
      group_.wait();
    }

   private:
    void spawn(std::int64_t task) {
      group_.run([this, task] { run_from(task); });
    }
    /// The task, and one of those that it made ready, as long as there is one; the others are spawned.
    void run_from(std::int64_t task) {
      constexpr std::int64_t none = -1;
      while (task != none) {
        graph_.execute(task);
        std::int64_t next = none;
        graph_.successors(task, [&](std::int64_t each) {
          // acq_rel: the last of a task's predecessors has seen the writes of the others.
          if (missing_[static_cast<std::size_t>(each)].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
          if (next != none) spawn(next);
          next = each;
        });
        task = next;
      }
    }

    const Graph& graph_;
    std::vector<std::atomic<int>> missing_;  ///< predecessors that have not run
    tbb::task_group group_;
  };

  template <class Stage, class... Rest>
  static auto joined(const tbb::filter<void, std::int64_t>& before, const Stage& stage, const Rest&... rest) {
    constexpr auto mode = Stage::is_in_turn ? tbb::filter_mode::serial_in_order : tbb::filter_mode::parallel;
    if constexpr (sizeof...(Rest) == 0) {
      return before &
             tbb::make_filter<std::int64_t, void>(mode, [&stage](std::int64_t item) { stage.run(item); });
    } else {
      return joined(before & tbb::make_filter<std::int64_t, std::int64_t>(mode,
                                                                          [&stage](std::int64_t item) {
                                                                            stage.run(item);
                                                                            return item;
                                                                          }),
                    rest...);
    }
  }

  pinned_arena arena_;
};

}  // namespace
