#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "teff/bench/noise.hpp"
#include "teff/graphs/counters.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::bench {

/// Which system a record is about.
struct identity {
  std::string system;
  std::string variant;
  std::string version;  ///< the runtime's own, asked of it
  int workers = 1;      ///< over all ranks
  int ranks = 1;
};

/// What one process has to say of a run.
struct outcome {
  tally done;
  disturbance seen;
  double elapsed_seconds = 0;
  std::string error;
};

/// Our code for a system under test: it brings each task's inputs to it and calls worker::execute.
class adapter {
 public:
  adapter() = default;
  adapter(const adapter&) = delete;
  adapter& operator=(const adapter&) = delete;
  virtual ~adapter() = default;

  [[nodiscard]] virtual identity describe() const = 0;

  /// Executes every task of every graph, in an order that the dependences allow, between work.start() and
  /// work.stop().
  virtual void run(workload& work) = 0;

  /// Workers in this process: how many a workload has.
  [[nodiscard]] virtual int local_workers() const { return describe().workers; }

  // A system of several ranks overrides the rest; rank 0 reads the input and prints.
  [[nodiscard]] virtual int rank() const { return 0; }
  /// Brings rank 0's text to all.
  virtual void broadcast(std::string&) {}
  /// Brings all ranks' outcomes to rank 0, in the order of ranks.
  virtual std::vector<outcome> gather(const outcome& mine) { return {mine}; }
  /// The first reason not to go on that a rank has, on all ranks and with that rank's name; empty where none
  /// has one.
  [[nodiscard]] virtual std::string agree(std::string reason) { return reason; }
  /// This rank can't go on, and the others may wait for it: they have to end, too.
  virtual void give_up(const std::string& /*reason*/) {}
};

/// Cores that this process may use (its affinity mask).
[[nodiscard]] int usable_cores();

/// Binds the calling thread to the index-th (modulo their number) of the cores this process may use.
void bind_to_core(int index);

/// The main program of an adapter: reads the flags, runs once or in batch mode, prints records. Returns the
/// exit code: 0, 1 where a run failed, 2 for bad input. `make` receives the number of workers asked for, and
/// returns nothing where another process answers for all; `workers` are those of a program that is told none.
int drive(int argc, char** argv, const std::function<std::unique_ptr<adapter>(int workers)>& make,
          int workers = usable_cores());

}  // namespace teff::bench
