#pragma once

#include <string>

#include "teff/graphs/adapter.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// One run of a configuration in one process, from before its timed region to its outcome: all measurements
/// around the adapter's work.
class measured_run {
 public:
  /// Notes the time, makes the workload, and looks how noisy the machine is.
  measured_run(configuration work, int workers);

  [[nodiscard]] workload& load() { return load_; }
  [[nodiscard]] const workload& load() const { return load_; }
  /// UTC, ISO 8601 with milliseconds.
  [[nodiscard]] const std::string& started_at() const { return started_at_; }

  /// The results of this process, once the region has stopped. `error` is what stopped the adapter, or empty.
  [[nodiscard]] outcome finish(std::string error) const;

 private:
  std::string started_at_;
  workload load_;
  double gap_share_before_;
};

}  // namespace teff::graphs
