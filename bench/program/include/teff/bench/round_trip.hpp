#pragma once

#include <optional>

namespace teff::bench {

/// How far apart the cores are that `workers` workers use: seconds for a cache line to go from one core to
/// its neighbour and back, the median of some batches, averaged over neighbours (worker i and i + 1). No
/// dependence between two workers can cost less. On a virtual machine it changes when the host moves a core:
/// then the same program has another overhead. Nothing for one worker. Takes about a quarter of a millisecond
/// a pair.
[[nodiscard]] std::optional<double> measure_round_trip(int workers);

}  // namespace teff::bench
