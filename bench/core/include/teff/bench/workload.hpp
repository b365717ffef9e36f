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
#include <vector>

#include "teff/bench/configuration.hpp"
#include "teff/bench/dependence_table.hpp"
#include "teff/bench/disturbance.hpp"
#include "teff/bench/tally.hpp"

namespace teff::bench {

/// An input of a task: the output of a task of the timestep before, wherever the system has brought it.
using input = std::span<const std::byte>;

/// Executes tasks and keeps what they did, for one worker of a system. Owner: that worker alone; nothing in
/// it is shared, and it begins and ends on cache lines of its own.
class alignas(128) worker {
 public:
  worker(std::span<const dependence_table> tables, const configuration& work);

  /// Executes task (timestep, point) of a graph: checks the inputs, writes the output, runs the kernel,
  /// counts. `inputs` are the outputs of the points that the table's inputs(timestep, point) names, in that
  /// order. A task that isn't right is remembered (the first stands in the record) and executed all the same.
  void execute(std::size_t graph, std::int64_t timestep, std::int64_t point, std::span<std::byte> output,
               std::span<const input> inputs);

  [[nodiscard]] const tally& done() const { return done_; }
  /// The first thing that was not right, or an empty string.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct prepared_kernel {
    kernel_function run;
    bool same_for_all;  ///< whether flops and bytes hold for every task
    std::int64_t flops;
    std::int64_t bytes;
  };

  bool validate(std::size_t graph, std::int64_t timestep, std::int64_t point, std::span<std::byte> output,
                std::span<const input> inputs);
  void compute(std::size_t graph, std::int64_t timestep, std::int64_t point, std::span<std::byte> output);
  /// What is not right about a task that is not.
  [[nodiscard]] std::string explain(std::size_t graph, std::int64_t timestep, std::int64_t point,
                                    std::span<std::byte> output, std::span<const input> inputs) const;
  void note(std::string reason);

  tally done_;
  bool validate_;
  std::span<const dependence_table> tables_;
  std::vector<prepared_kernel> kernels_;
  std::unique_ptr<std::byte[]> scratch_memory_;
  std::span<std::byte> scratch_;
  std::string error_;
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
  [[nodiscard]] int workers() const { return static_cast<int>(workers_.size()); }
  [[nodiscard]] bench::worker& worker(int index) { return workers_[static_cast<std::size_t>(index)]; }

  /// Called by the adapter once: when all workers are ready and no task has started ...
  void start() { region_.start(); }
  /// ... and when all tasks, of all ranks, are done.
  void stop() { region_.stop(); }

  /// The ceiling says how far apart the cores are: seconds, or nothing for one worker.
  void note_round_trip(std::optional<double> seconds) { round_trip_ = seconds; }
  [[nodiscard]] std::optional<double> round_trip() const { return round_trip_; }

  [[nodiscard]] const region_meter& region() const { return region_; }
  /// What this process's workers did, and the first error.
  [[nodiscard]] tally done() const;
  [[nodiscard]] std::string error() const;
  /// What all processes together have to have done.
  [[nodiscard]] tally expected() const;

 private:
  configuration work_;
  std::vector<dependence_table> tables_;
  std::deque<bench::worker> workers_;
  region_meter region_;
  std::optional<double> round_trip_;
};

}  // namespace teff::bench
