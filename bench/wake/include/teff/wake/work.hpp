#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace teff::wake {

using seconds = std::chrono::duration<double>;

/// One run: so often a task is spawned after so much time without work.
struct work {
  int wakes = 20;
  seconds idle{0.01};
};

/// The results of a run.
struct result {
  std::vector<double> wake_seconds;  ///< of each wake
  double idle_seconds = 0;           ///< that passed without work, in all
  double idle_cpu_seconds = 0;       ///< CPU time of the process in these
};

/// Reads the flags of a run, with one dash or two. Throws bench::usage_error.
[[nodiscard]] work parse_work(std::span<const std::string> flags);
/// The flags of a run, for people.
[[nodiscard]] std::string work_help();

/// The smallest sample that is not below this share of the samples. There is at least one sample.
[[nodiscard]] double quantile(std::vector<double> samples, double share);

}  // namespace teff::wake
