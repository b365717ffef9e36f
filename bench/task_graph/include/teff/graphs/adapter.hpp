#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "teff/bench/cores.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/noise.hpp"
#include "teff/bench/ranks.hpp"
#include "teff/graphs/counters.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// The results of one process in a run.
struct outcome {
  counters done;
  bench::noise seen;
  double elapsed_seconds = 0;
  std::string error;
};

/// Our code for a system under test: it brings each task's inputs to it and calls worker::execute. A system
/// of several ranks overrides what bench::ranks says, too.
class adapter : public bench::ranks {
 public:
  [[nodiscard]] virtual bench::identity describe() const = 0;

  /// Executes every task of every graph, in an order that the dependences allow, between work.start() and
  /// work.stop().
  virtual void run(workload& work) = 0;

  /// The number of workers in this process, which its workload has, too.
  [[nodiscard]] virtual int local_workers() const { return describe().workers; }
  /// Collects all ranks' outcomes on rank 0, in the order of ranks.
  virtual std::vector<outcome> gather(const outcome& mine) { return {mine}; }
};

/// The main program of an adapter, as bench::drive. `make` receives the number of workers, and returns null
/// in a process for which another one answers. `workers` is their number if the flags name none.
int drive(int argc, char** argv, const std::function<std::unique_ptr<adapter>(int workers)>& make,
          int workers = bench::usable_cores());

/// Whether the flags need the system. Help and errors in the flags need none: one process answers alone.
[[nodiscard]] bool needs_system(int argc, char** argv);

}  // namespace teff::graphs
