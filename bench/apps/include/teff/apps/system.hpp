#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "teff/apps/cholesky.hpp"
#include "teff/apps/gemm.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/noise.hpp"

namespace teff::apps {

/// The counts of a rank in a run; empty where the library does not tell them.
struct counts {
  std::optional<std::int64_t> tasks;
  std::optional<std::int64_t> bytes_sent;  ///< of tiles, to other ranks
};

/// A system that runs the apps, with its workers, or one rank of it.
class system {
 public:
  system() = default;
  system(const system&) = delete;
  system& operator=(const system&) = delete;
  virtual ~system() = default;

  /// Over ranks, it need not know how many there are, nor the release of their MPI.
  [[nodiscard]] virtual bench::identity describe() const = 0;
  /// How it takes its matrices.
  [[nodiscard]] virtual layout storage() const { return layout::tiles; }
  /// The part that the system would need to compute this and does not have; empty if it lacks none.
  [[nodiscard]] virtual std::string lacks(const setting& /*at*/) const { return {}; }
  /// Computes it, between region.start() and region.stop(): from the call of one thread until all is there.
  virtual counts run(gemm& product, bench::region_meter& region) = 0;
  virtual counts run(cholesky& factors, bench::region_meter& region) = 0;
};

}  // namespace teff::apps
