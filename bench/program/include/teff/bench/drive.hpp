#pragma once

#include <functional>
#include <memory>
#include <string>

#include "teff/bench/benchmark.hpp"
#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/ranks.hpp"

namespace teff::bench {

/// A system that has been started, and a kind of benchmark on it.
class runner {
 public:
  runner() = default;
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  virtual ~runner() = default;

  [[nodiscard]] virtual identity describe() const = 0;
  [[nodiscard]] virtual ranks& processes() = 0;
  /// Makes ready what run() runs; the flags are right. May throw, on some ranks only as well.
  virtual void prepare(const flags& of_run) = 0;
  /// Runs it once. The answer is rank 0's.
  [[nodiscard]] virtual answer run() = 0;
};

/// The main program of all kinds of benchmarks: reads the flags, answers what was asked for, runs once or in
/// batch mode. Returns the exit code: 0, 1 where a run failed, 2 for bad input. `start` receives the number
/// of workers asked for, and returns nothing where another process answers for all; `workers` are those of a
/// program that is told none.
int drive(int argc, char** argv, const benchmark& kind,
          const std::function<std::unique_ptr<runner>(int workers)>& start, int workers = usable_cores());

/// Whether a command line asks for more than an answer that needs no system: help, the cases, or what is
/// wrong with it.
[[nodiscard]] bool needs_system(int argc, char** argv, const benchmark& kind);

}  // namespace teff::bench
