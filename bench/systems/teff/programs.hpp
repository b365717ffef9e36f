// Programs on libteff: join, scope, loops, pipelines, graphs of numbered tasks, and
// requests. A loop outside a worker is
// run in the runtime.
#pragma once

#include <teff/join.hpp>
#include <teff/loops.hpp>
#include <teff/parallel_graph.hpp>
#include <teff/pipeline.hpp>
#include <teff/reduce.hpp>
#include <teff/runtime.hpp>
#include <teff/scope.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "teff/bench/identity.hpp"
#include "teff/programs/ways.hpp"

namespace {

using namespace teff::programs;

class program_system {
 public:
  explicit program_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "teff",
            .variant = "program",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  template <class Body>
  void run_tasks(const Body& body) {
    runtime_.run(body);
  }
  template <class First, class Second>
  static void invoke(First&& first, Second&& second) {
    teff::join(std::forward<First>(first), std::forward<Second>(second));
  }
  template <class Body>
  static void scope(const Body& body) {
    teff::scope tasks;
    body(tasks);
  }

  template <class Body>
  void run_loops(const Body& body) {
    runtime_.run(body);
  }
  template <class Body>
  void parallel_for(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
    runtime_.run([&] { teff::parallel_for(first, last, body, {.grain = static_cast<std::size_t>(grain)}); });
  }
  template <class T, class Body>
  [[nodiscard]] T sum(std::int64_t first, std::int64_t last, const Body& body) {
    return runtime_.run([&] { return teff::parallel_reduce(first, last, T{}, std::plus<>(), body); });
  }

  template <task_graph Graph>
  void run_graph(const Graph& graph) {
    runtime_.run([&] {
      teff::parallel_graph(
          graph.tasks(), [&graph](std::int64_t task) { return graph.indegree(task); },
          [&graph](std::int64_t task, const auto& release) {
            graph.execute(task);
            graph.successors(task, release);
          });
    });
  }

  template <class Body>
  [[nodiscard]] auto request(const Body& body) {
    return runtime_.run(body);
  }
  template <class Body>
  void request_all(std::int64_t count, const Body& body) {
    runtime_.run([&] {
      teff::scope all;  // a future for each would cost more, and no code waits for a single one
      for (std::int64_t i = 0; i < count; ++i) all.spawn([&body, i] { body(i); });
    });
  }

  template <class First, class... Rest>
  void run_pipeline(std::int64_t items, std::int64_t tokens, const First& first, const Rest&... rest) {
    std::int64_t next = 0;
    auto source = teff::serial([&]() -> std::optional<std::int64_t> {
      if (next == items) return std::nullopt;
      first.run(next);
      return next++;
    });
    runtime_.run([&] {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        teff::parallel_pipeline(static_cast<std::size_t>(tokens), source,
                                filter < I + 1 == sizeof...(Rest) > (rest)...);
      }(std::index_sequence_for<Rest...>{});
    });
  }

 private:
  /// The item goes on to the next stage, if there is one.
  template <bool Last, class Stage>
  static auto filter(const Stage& stage) {
    const auto run = [&stage](std::int64_t item) {
      stage.run(item);
      if constexpr (!Last) return item;
    };
    if constexpr (Stage::is_in_turn) {
      return teff::serial(run);
    } else {
      return teff::parallel(run);
    }
  }

  teff::runtime runtime_;
};

}  // namespace
