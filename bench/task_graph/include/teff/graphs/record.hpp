#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teff/graphs/adapter.hpp"

namespace teff::bench {

/// Everything that a validated run has to say. record.schema.json describes its JSON.
struct record {
  identity who;
  configuration work;
  double elapsed_seconds = 0;
  tally done;
  tally expected;
  std::optional<locality> local;  ///< where -nodes is given
  disturbance seen;
  std::string started_at;
  std::string error;  ///< why the run does not count, or empty
};

/// Puts the ranks' outcomes together and judges them.
[[nodiscard]] record judge(const identity& who, const workload& work, const std::vector<outcome>& outcomes,
                           std::string started_at);

/// One line of JSON, without the newline.
[[nodiscard]] std::string to_json(const record& run);
/// The record of a configuration that could not run at all.
[[nodiscard]] std::string error_json(const identity& who, std::string_view error);
[[nodiscard]] std::string to_json(const identity& who);

/// The published Task Bench's report, in its wording.
[[nodiscard]] std::string to_report(const record& run);
/// What the flags describe, in its wording too; verbosity as configuration::verbosity.
[[nodiscard]] std::string describe(const configuration& work);
/// The tasks and their dependencies, as a list of {"timestep", "point", "dependencies"}, each task a line.
[[nodiscard]] std::string graph_json(const configuration& work);

}  // namespace teff::bench
