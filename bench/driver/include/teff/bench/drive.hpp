#pragma once

#include <functional>
#include <memory>
#include <string>

#include "teff/bench/benchmark.hpp"
#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/ranks.hpp"

namespace teff::bench {

/// Runs one kind of benchmark on a system that has been started.
class runner {
 public:
  runner() = default;
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  virtual ~runner() = default;

  [[nodiscard]] virtual identity describe() const = 0;
  [[nodiscard]] virtual ranks& processes() = 0;
  /// Prepares what run() runs. The flags have been checked. May throw, also on some ranks only.
  virtual void prepare(const flags& of_run) = 0;
  /// Runs it once. Rank 0's answer counts.
  [[nodiscard]] virtual answer run() = 0;
};

/// The main program of all kinds of benchmarks: reads the flags, answers requests that run nothing, and else
/// runs once or in batch mode. Returns the exit code: 0, or 1 if a run failed, or 2 for bad input. `start`
/// receives the number of workers, and returns null in a process for which another one answers. `workers` is
/// their number if the flags name none.
int drive(int argc, char** argv, const benchmark& kind,
          const std::function<std::unique_ptr<runner>(int workers)>& start, int workers = usable_cores());

/// Whether a command line needs the system. Help, the cases and errors in the flags need none.
[[nodiscard]] bool needs_system(int argc, char** argv, const benchmark& kind);

}  // namespace teff::bench
