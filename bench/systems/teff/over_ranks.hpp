#pragma once

#include <mpi.h>
#include <teff/message.hpp>
#include <teff/mpi.hpp>
#include <teff/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "teff/bench/failure.hpp"
#include "teff/graphs/mpi_adapter.hpp"
#include "teff/graphs/team.hpp"

namespace teff::graphs {

/// A way to run graphs over ranks of libteff, each with a runtime: one worker at least.
class over_ranks : public mpi_adapter {
 public:
  over_ranks(std::string variant, int workers) : over_ranks(std::move(variant), workers, ranks_of_job()) {}

  [[nodiscard]] bench::identity describe() const final {
    return identify("teff", variant_, std::string(teff::version()));
  }

 protected:
  [[nodiscard]] const team& all() const { return all_; }

  /// A key has 16 bits for the graph.
  void prepare(workload& work) override {
    constexpr std::size_t most_graphs = std::numeric_limits<std::int16_t>::max();
    if (work.graphs() > most_graphs)
      throw bench::usage_error(std::to_string(work.graphs()) + " graphs: this program runs at most " +
                               std::to_string(most_graphs) + " at once");
  }
  /// Runs all tasks between start and stop of the workload, by workers(). A way without a communicator
  /// overrides execute() instead.
  virtual void run_on(teff::communicator& /*comm*/, workload& /*work*/) {}
  /// Between runs the main thread uses MPI, so the objects that use it on workers live no longer than a run.
  void execute(workload& work) override {
    int argc = 0;
    char** argv = nullptr;
    teff::mpi job(argc, argv);
    teff::communicator comm(runtime_, job);
    run_on(comm, work);
  }
  [[nodiscard]] teff::runtime& workers() { return runtime_; }

 private:
  static int ranks_of_job() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }
  over_ranks(std::string variant, int workers, int ranks)
      : mpi_adapter(std::max(workers, ranks)),
        variant_(std::move(variant)),
        all_(rank(), ranks, std::max(workers, ranks)),
        runtime_({.workers = static_cast<unsigned>(local_workers())}) {
    saw_workers(static_cast<int>(runtime_.workers()));
  }

  std::string variant_;
  team all_;
  teff::runtime runtime_;
};

}  // namespace teff::graphs
