// Programs on libteff: join, scope, loops and a task graph of numbers. A loop outside a worker is run in the
// runtime. A stage of a pipeline is a task of a graph.
#pragma once

#include <teff/loops.hpp>
#include <teff/reduce.hpp>
#include <teff/teff.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

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
    return runtime_.run([&] { return teff::parallel_reduce(first, last, T{}, body, std::plus<>()); });
  }

  template <task_graph Graph>
  void run_graph(const Graph& graph) {
    teff::task_graph<std::int64_t> tasks(runtime_);
    tasks.indegree([&graph](std::int64_t task) { return graph.indegree(task); });
    tasks.body([&](std::int64_t task) {
      graph.execute(task);
      graph.successors(task, [&tasks](std::int64_t next) { tasks.fulfill(next); });
    });
    runtime_.run([&] {
      for (std::int64_t task = 0; task < graph.tasks(); ++task)
        if (graph.indegree(task) == 0) tasks.fulfill(task);
      tasks.wait();
    });
  }

  /// A stage waits for the one before; in turn, also for the item before. The first one waits for the item
  /// whose token it takes.
  template <class... Stage>
  void run_pipeline(std::int64_t items, std::int64_t tokens, const Stage&... stages) {
    using key = std::array<std::int64_t, 2>;  // item, stage
    constexpr std::int64_t count = sizeof...(Stage);
    constexpr std::array<bool, sizeof...(Stage)> in_turn{Stage::is_in_turn...};
    const auto waits_for_item = [&](std::int64_t stage) { return in_turn[static_cast<std::size_t>(stage)]; };
    teff::task_graph<key> tasks(runtime_);
    tasks.indegree([&](const key& k) {
      const auto [item, stage] = k;
      return (waits_for_item(stage) && item > 0 ? 1 : 0) + (stage > 0 || item >= tokens ? 1 : 0);
    });
    tasks.body([&](const key& k) {
      const auto [item, stage] = k;
      std::int64_t number = 0;
      ((number++ == k[1] ? stages.run(k[0]) : void()), ...);
      if (waits_for_item(stage) && item + 1 < items) tasks.fulfill({item + 1, stage});
      if (stage + 1 < count) return tasks.fulfill({item, stage + 1});
      if (item + tokens < items) tasks.fulfill({item + tokens, 0});
    });
    runtime_.run([&] {
      if (items > 0) tasks.fulfill({0, 0});
      tasks.wait();
    });
  }

 private:
  teff::runtime runtime_;
};

}  // namespace
