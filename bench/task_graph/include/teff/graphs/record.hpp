#pragma once

#include <optional>
#include <string>
#include <vector>

#include "teff/graphs/adapter.hpp"

namespace teff::graphs {

/// Everything that the record of a validated run holds.
struct record {
  bench::identity who;
  configuration work;
  std::string isa;  ///< with which the kernels ran
  double elapsed_seconds = 0;
  counters done;
  counters expected;
  std::optional<locality> local;  ///< where -nodes is given
  bench::noise seen;
  std::string started_at;
  std::optional<simulated_run> simulated;
  std::string error;  ///< why the run does not count, or empty
};

/// Adds up the ranks' outcomes, and compares them with the counters that the graphs demand.
[[nodiscard]] record validate(const bench::identity& who, const workload& work,
                              const std::vector<outcome>& outcomes, std::string started_at);

/// One line of JSON, without the newline, as record.schema.json describes it.
[[nodiscard]] std::string to_json(const record& run);

/// The published Task Bench's report, in its wording.
[[nodiscard]] std::string to_report(const record& run);
/// Describes the configuration in the flags' wording; verbosity as configuration::verbosity.
[[nodiscard]] std::string describe(const configuration& work);
/// The tasks and their dependencies, as a list of {"timestep", "point", "dependencies"}, each task a line.
[[nodiscard]] std::string graph_json(const configuration& work);

}  // namespace teff::graphs
