#pragma once

#include <legion.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph_region.hpp"
#include "teff/bench/cores.hpp"
#include "teff/bench/start_barrier.hpp"
#include "teff/graphs/adapter.hpp"

/// Runs workloads by index launches, one for each timestep of each graph. This thread launches them, and
/// Legion takes it as a top-level task for the length of a run.
class launches : public teff::graphs::adapter {
 public:
  launches(std::string variant, int workers) : variant_(std::move(variant)), workers_(workers) {
    using Legion::Runtime;
    register_task<execute_point>(point_task, "point");
    register_task<wake>(wake_task, "wake");
    // Legion's and Realm's flags. A processor that only analyses would be one more thread than there are
    // cores.
    std::vector<std::string> words{"legion",          "-ll:cpu",  std::to_string(workers),
                                   "-ll:util",        "0",        "-level",
                                   "gpu=6,threads=5", "-logfile", "stderr"};
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    const int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    Runtime::start(count, arguments.data(), true);
    runtime_ = Runtime::get_runtime();
  }
  ~launches() override { Legion::Runtime::wait_for_shutdown(); }
  launches(const launches&) = delete;
  launches& operator=(const launches&) = delete;

  [[nodiscard]] teff::bench::identity describe() const final {
    return {.system = "legion",
            .variant = variant_,
            .version = Legion::Runtime::get_legion_version(),
            .workers = static_cast<int>(processors().count())};
  }

  void run(teff::graphs::workload& work) final {
    const Legion::Context context =
        runtime_->begin_implicit_task(main_task, 0, Legion::Processor::LOC_PROC, "workload");
    {
      std::deque<graph_region> graphs;
      for (std::size_t i = 0; i < work.graphs(); ++i) graphs.emplace_back(runtime_, context, work.table(i));
      wake_all(context);
      work.start();
      launch_all(context, work, graphs);
      runtime_->issue_execution_fence(context).wait();
      work.stop();
    }
    runtime_->finish_implicit_task(context);
  }

 protected:
  /// Launches all tasks, in order of timesteps.
  virtual void launch_all(Legion::Context context, teff::graphs::workload& work,
                          std::deque<graph_region>& graphs) = 0;

  /// Launches the tasks of a timestep in all graphs that have it.
  static void launch_timestep(teff::graphs::workload& work, std::deque<graph_region>& graphs,
                              std::int64_t timestep) {
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      if (timestep >= work.graph(i).steps) continue;
      const task_arguments arguments{&work, i, timestep};
      graphs[i].launch(point_task, Legion::UntypedBuffer(&arguments, sizeof arguments), timestep);
    }
  }

  [[nodiscard]] Legion::Runtime* runtime() const { return runtime_; }

 private:
  enum : Legion::TaskID { main_task, point_task, wake_task };

  /// The arguments of all tasks of a launch: Legion copies them.
  struct task_arguments {
    teff::graphs::workload* work;
    std::size_t graph;
    std::int64_t timestep;
  };

  template <void (*function)(const Legion::Task*, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
                             Legion::Runtime*)>
  static void register_task(Legion::TaskID id, const char* name) {
    Legion::TaskVariantRegistrar variant(id, name);
    variant.add_constraint(Legion::ProcessorConstraint(Legion::Processor::LOC_PROC));
    variant.set_leaf();
    Legion::Runtime::preregister_task_variant<function>(variant, name);
  }

  using outputs = Legion::UnsafeFieldAccessor<std::byte, 1, Legion::coord_t,
                                              Realm::AffineAccessor<std::byte, 1, Legion::coord_t>>;

  static void execute_point(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>& regions,
                            Legion::Context, Legion::Runtime*) {
    thread_local std::vector<teff::graphs::input> inputs;
    const auto& [work, graph, timestep] = *static_cast<const task_arguments*>(task->args);
    const auto& table = work->table(graph);
    const auto bytes = static_cast<std::size_t>(table.graph().output_bytes);
    const std::int64_t point = task->index_point[0];
    inputs.clear();
    if (const auto points = table.inputs(timestep, point); points.size() > 0) {
      const outputs before(regions[1], graph_region::field(timestep - 1));
      for (const std::int64_t each : points) inputs.emplace_back(before.ptr(each), bytes);
    }
    const outputs own(regions[0], graph_region::field(timestep));
    work->worker(worker_of_thread())
        .execute(graph, timestep, point, std::span(own.ptr(point), bytes), inputs);
  }

  /// Binds each processor's thread to a core, and sees to it that all are awake.
  void wake_all(Legion::Context context) const {
    teff::bench::start_barrier all(workers_);
    teff::bench::start_barrier* const here = &all;
    Legion::IndexTaskLauncher tasks(wake_task, Legion::Rect<1>(0, workers_ - 1),
                                    Legion::UntypedBuffer(&here, sizeof here), Legion::ArgumentMap());
    runtime_->execute_index_space(context, tasks).wait_all_results(true);
  }
  static void wake(const Legion::Task* task, const std::vector<Legion::PhysicalRegion>&, Legion::Context,
                   Legion::Runtime*) {
    worker_of_thread();
    (*static_cast<teff::bench::start_barrier* const*>(task->args))->arrive_and_wait();
  }

  /// Those that execute tasks.
  static Legion::Machine::ProcessorQuery processors() {
    Legion::Machine::ProcessorQuery all(Legion::Machine::get_machine());
    all.only_kind(Legion::Processor::LOC_PROC);
    return all;
  }

  /// The number of the processor whose thread this is. The thread is bound to a core when it first asks.
  static int worker_of_thread() {
    thread_local const int worker = [] {
      const Legion::Machine::ProcessorQuery all = processors();
      const auto own = std::find(all.begin(), all.end(), Legion::Processor::get_executing_processor());
      const auto number = static_cast<int>(std::distance(all.begin(), own));
      teff::bench::bind_to_core(number);
      return number;
    }();
    return worker;
  }

  std::string variant_;
  int workers_;
  Legion::Runtime* runtime_ = nullptr;
};
