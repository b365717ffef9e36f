#include "teff/graphs/task_graph.hpp"

#include <fmt/format.h>

namespace teff::graphs {

std::string task_graph::check() const {
  if (steps < 1) return fmt::format("-steps {}: a graph has at least 1 timestep", steps);
  if (width < 1 || width > std::int64_t{1} << 62)
    return fmt::format("-width {}: a graph is 1 to 2^62 points wide", width);
  if (radix < 0) return fmt::format("-radix {}: give 0 or more", radix);
  if (pattern->uses_period && period < 1)
    return fmt::format("-period {}: pattern '{}' needs a period of at least 1, for example -period 3", period,
                       pattern->name);
  if (!pattern->uses_period && period != 0)
    return fmt::format("-period {}: pattern '{}' has no period; leave the flag out", period, pattern->name);
  if (!(fraction >= 0 && fraction <= 1))
    return fmt::format("-fraction {}: give a value from 0 to 1", fraction);
  constexpr auto least = static_cast<std::int64_t>(sizeof(payload));
  if (output_bytes < least)
    return fmt::format("-output {}: a task's output names its task and takes at least {} bytes", output_bytes,
                       least);
  if (scratch_bytes < 0) return fmt::format("-scratch {}: give 0 or more bytes", scratch_bytes);
  if (std::string reason = pattern->check(*this); !reason.empty()) return reason;
  return graphs::check(kernel, scratch_bytes);
}

}  // namespace teff::graphs
