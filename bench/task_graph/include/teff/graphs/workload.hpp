#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "teff/bench/noise.hpp"
#include "teff/graphs/configuration.hpp"
#include "teff/graphs/counters.hpp"
#include "teff/graphs/dependence_table.hpp"
#include "teff/graphs/input_checks.hpp"

namespace teff::graphs {

/// An input of a task: the output of a task of the timestep before, wherever the system has brought it.
using input = std::span<const std::byte>;

/// Executes tasks and counts their work, for one worker of a system. Only that worker uses it: it shares
/// nothing, and begins and ends on separate cache lines.
class alignas(128) worker {
 public:
  worker(std::span<const dependence_table> tables, std::span<const input_checks> checks,
         const configuration& work);

  /// Executes task (timestep, point) of a graph: checks the inputs, runs the kernel, writes the output,
  /// counts. `inputs` are the outputs of the points that the table's inputs(timestep, point) names, in that
  /// order. A task that isn't right is remembered (the first stands in the record) and executed all the same.
  void execute(std::size_t graph, std::int64_t timestep, std::int64_t point, std::span<std::byte> output,
               std::span<const input> inputs) {
    execute(graphs_[graph], timestep, point, output.data(), output.size(), inputs.data(), inputs.size());
  }

  /// The first half of execute(), for a kernel that runs elsewhere than on the worker's core, as on an
  /// accelerator. Checks the inputs, counts the work, and returns the iterations that the kernel has to run.
  /// The output is the kernel's to write, with pairs of timestep and point from its first byte on.
  [[nodiscard]] std::int64_t begin(std::size_t graph, std::int64_t timestep, std::int64_t point,
                                   std::span<const input> inputs);
  /// The second half, when that kernel has ended: counts the task, and checks that the output is its own.
  /// `computed` says whether the kernel computed the right result, as the adapter has found out.
  void end(std::size_t graph, std::int64_t timestep, std::int64_t point, input output, bool computed);

  [[nodiscard]] const counters& done() const { return done_; }
  /// The first thing that was not right, or an empty string.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  /// The data that every task of a graph needs, side by side.
  struct alignas(128) prepared_graph {
    kernel_function run;
    const graphs::kernel* kernel;
    std::int64_t iterations;
    std::span<std::byte> scratch;
    bool same_for_all;  ///< whether iterations, flops and bytes hold for every task
    std::int64_t flops;
    std::int64_t bytes;
    std::size_t output_bytes;
    const input_checks* checks;
    const dependence_table* table;
  };

  /// It takes plain words, not spans. A span that does not fit in registers is stored word by word. Code that
  /// loads the whole span then waits until these stores, and the task's stores before them, have left the
  /// core.
  void execute(const prepared_graph& graph, std::int64_t timestep, std::int64_t point, std::byte* output,
               std::size_t output_bytes, const input* inputs, std::size_t count);
  [[nodiscard]] bool validate(const prepared_graph& graph, std::int64_t timestep, std::int64_t point,
                              const input* inputs, std::size_t count);
  /// As validate, of any task: one without a row in the checks, too.
  [[nodiscard]] bool validate_any(const prepared_graph& graph, std::int64_t timestep, std::int64_t point,
                                  const input* inputs, std::size_t count);
  void compute(const prepared_graph& graph, std::int64_t timestep, std::int64_t point);
  /// Counts a task's work and returns its iterations.
  std::int64_t count_work(const prepared_graph& graph, std::int64_t timestep, std::int64_t point);
  /// Keeps the fault of a task, if it is the first fault.
  [[gnu::noinline, gnu::cold]] void note(const prepared_graph& graph, std::int64_t timestep,
                                         std::int64_t point, std::size_t output_bytes, const input* inputs,
                                         std::size_t count);

  counters done_;
  bool validate_;
  std::vector<prepared_graph> graphs_;
  std::unique_ptr<std::byte[]> scratch_memory_;
  std::span<std::byte> scratch_;
  std::string error_;
};

/// The results of a run that a program has simulated.
struct simulated_run {
  std::string machine;
  std::uint64_t seed = 0;
  double seconds = 0;
  counters done{};
};

/// One configuration made ready to run in this process: its tables, its workers, its timed region.
class workload {
 public:
  /// `workers` is the number of workers in this process.
  workload(configuration work, int workers);

  [[nodiscard]] const configuration& work() const { return work_; }
  [[nodiscard]] std::size_t graphs() const { return tables_.size(); }
  [[nodiscard]] const task_graph& graph(std::size_t index) const { return tables_[index].graph(); }
  [[nodiscard]] const dependence_table& table(std::size_t index) const { return tables_[index]; }
  /// The greatest number of timesteps of a graph.
  [[nodiscard]] std::int64_t steps() const;
  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }
  [[nodiscard]] graphs::worker& worker(int index) { return workers_[static_cast<std::size_t>(index)]; }

  /// Called by the adapter once: when all workers are ready and no task has started ...
  void start() { region_.start(); }
  /// ... and when all tasks, of all ranks, are done.
  void stop() { region_.stop(); }

  /// Keeps how far apart the cores are, as the ceiling measures it: seconds, or nothing for one worker.
  void note_round_trip(std::optional<double> seconds) { round_trip_ = seconds; }
  [[nodiscard]] std::optional<double> round_trip() const { return round_trip_; }

  /// Keeps the instruction set of kernels that run elsewhere than on the cores, for the record.
  void note_isa(std::string name) { isa_ = std::move(name); }
  /// That with which the kernels run.
  [[nodiscard]] std::string isa() const { return isa_.empty() ? std::string(name(work_.isa)) : isa_; }

  /// Keeps the results of a simulated run in the place of the workers' counts and the clock's time.
  void note_simulated(simulated_run run) { simulated_ = std::move(run); }
  [[nodiscard]] const std::optional<simulated_run>& simulated() const { return simulated_; }

  [[nodiscard]] const bench::region_meter& region() const { return region_; }
  /// The counters of this process's workers, and the first error.
  [[nodiscard]] counters done() const;
  [[nodiscard]] std::string error() const;
  /// The counters that all processes must reach together.
  [[nodiscard]] counters expected() const;

 private:
  configuration work_;
  std::vector<dependence_table> tables_;
  std::vector<input_checks> checks_;  ///< none where nothing is validated
  std::deque<graphs::worker> workers_;
  bench::region_meter region_;
  std::optional<double> round_trip_;
  std::string isa_;  ///< empty where kernels run on the cores
  std::optional<simulated_run> simulated_;
};

}  // namespace teff::graphs
