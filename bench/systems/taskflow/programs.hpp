// Programs on Taskflow: asynchronous tasks in a task_group, the algorithms for_each_index and
// reduce_by_index, static graphs made for each run, or its Pipeline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/algorithm/reduce.hpp>
#include <vector>

#include "executor.hpp"
#include "teff/bench/identity.hpp"
#include "teff/programs/ways.hpp"

namespace {

using namespace teff::programs;

class program_system : public executor {
 public:
  using executor::executor;

  [[nodiscard]] teff::bench::identity describe() const { return executor::describe("program"); }

  template <class Body>
  void run_tasks(const Body& body) {
    run(body);
  }
  template <class First, class Second>
  static void invoke(const First& first, const Second& second) {
    tf::TaskGroup group = here->task_group();
    group.silent_async([&first] { first(); });
    second();
    group.corun();
  }

  template <class Body>
  void run_loops(const Body& body) {
    run(body);
  }
  template <class Body>
  void parallel_for(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) {
    tf::Taskflow loop;
    const auto each = [&body](std::int64_t i) { body(i); };
    if (grain == 0)
      loop.for_each_index(first, last, std::int64_t{1}, each);
    else
      loop.for_each_index(first, last, std::int64_t{1}, each,
                          tf::DynamicPartitioner(static_cast<std::size_t>(grain)));
    run_flow(loop);
  }
  template <class T, class Body>
  [[nodiscard]] T sum(std::int64_t first, std::int64_t last, const Body& body) {
    T total{};
    tf::Taskflow loop;
    loop.reduce_by_index(
        tf::IndexRange<std::int64_t>(first, last, 1), total,
        [&body](const tf::IndexRange<std::int64_t>& some, std::optional<T> before) {
          T part = before.value_or(T{});
          for (std::int64_t i = some.begin(); i < some.end(); ++i) part += body(i);
          return part;
        },
        std::plus<T>());
    run_flow(loop);
    return total;
  }

  template <task_graph Graph>
  void run_graph(const Graph& graph) {
    tf::Taskflow flow;
    std::vector<tf::Task> all;
    all.reserve(static_cast<std::size_t>(graph.tasks()));
    for (std::int64_t task = 0; task < graph.tasks(); ++task)
      all.push_back(flow.emplace([&graph, task] { graph.execute(task); }));
    for (std::int64_t task = 0; task < graph.tasks(); ++task)
      graph.successors(task, [&](std::int64_t next) {
        all[static_cast<std::size_t>(task)].precede(all[static_cast<std::size_t>(next)]);
      });
    run_flow(flow);
  }

  template <class Body>
  [[nodiscard]] auto request(const Body& body) {
    return executor_.async(body).get();
  }
  template <class Body>
  void request_all(std::int64_t count, const Body& body) {
    std::vector<std::future<void>> all;
    all.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) all.push_back(executor_.async([&body, i] { body(i); }));
    for (std::future<void>& each : all) each.get();
  }

  template <class First, class... Rest>
  void run_pipeline(std::int64_t items, std::int64_t tokens, const First& first, const Rest&... rest) {
    tf::Pipeline pipeline(static_cast<std::size_t>(tokens),
                          tf::Pipe{tf::PipeType::SERIAL,
                                   [&](tf::Pipeflow& flow) {
                                     const auto item = item_of(flow);
                                     if (item == items) return flow.stop();
                                     first.run(item);
                                   }},
                          pipe_of(rest)...);
    tf::Taskflow flow;
    flow.composed_of(pipeline);
    run_flow(flow);
  }

 private:
  [[nodiscard]] static std::int64_t item_of(const tf::Pipeflow& flow) {
    return static_cast<std::int64_t>(flow.token());
  }

  template <class Stage>
  [[nodiscard]] static auto pipe_of(const Stage& stage) {
    return tf::Pipe{Stage::is_in_turn ? tf::PipeType::SERIAL : tf::PipeType::PARALLEL,
                    [&stage](tf::Pipeflow& flow) { stage.run(item_of(flow)); }};
  }

  /// A worker takes part; any other thread waits.
  void run_flow(tf::Taskflow& flow) {
    if (executor_.this_worker_id() >= 0)
      executor_.corun(flow);
    else
      executor_.run(flow).wait();
  }
};

}  // namespace
