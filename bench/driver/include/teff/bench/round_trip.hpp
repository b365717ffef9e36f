#pragma once

#include <optional>

namespace teff::bench {

/// The distance of the cores of `workers` workers: the time of a cache line from one core to its neighbour
/// and back [s]. It is the median of some batches, averaged over the pairs of workers i and i + 1. No
/// dependence between two workers can cost less. On a virtual machine it changes when the host moves a core:
/// then the same program has another overhead. Nothing for one worker. Takes about a quarter of a millisecond
/// a pair.
[[nodiscard]] std::optional<double> measure_round_trip(int workers);

}  // namespace teff::bench
