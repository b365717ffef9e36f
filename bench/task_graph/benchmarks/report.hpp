#pragma once

#include <optional>
#include <string>
#include <vector>

#include "teff/bench/flags.hpp"

namespace teff::graphs {

struct spread {
  double min, median, max;
};

/// Of at least one value.
[[nodiscard]] spread spread_of(std::vector<double> values);

/// A kernel beside its reference. Repeats of the two alternate, so that the machine's drift does not change
/// the ratio of a pair.
struct comparison {
  std::string kernel;
  std::string reference;
  int threads;
  spread kernel_rate;     ///< FLOP/s or B/s
  spread reference_rate;  ///< the same
  spread ratio;           ///< kernel to reference, over the pairs
};

[[nodiscard]] comparison compare(std::string kernel, const std::vector<double>& kernel_rates,
                                 std::string reference, const std::vector<double>& reference_rates,
                                 int threads);

/// Reads a command's flags. The exit code, where they ask for help or are wrong.
[[nodiscard]] std::optional<int> read_command(bench::flag_parser& parser, int argc, char** argv);

/// A table for people; `unit` is what 1e9 of the rates are.
[[nodiscard]] std::string as_table(const std::vector<comparison>& rows, const std::string& unit);

/// A JSON array with an object a row.
[[nodiscard]] std::string as_json(const std::vector<comparison>& rows);

}  // namespace teff::graphs
