#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "teff/apps/cholesky.hpp"
#include "teff/apps/gemm.hpp"
#include "teff/apps/ways.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/noise.hpp"

namespace teff::apps {

/// The counts of a rank in a run; empty where the library does not tell them.
struct counts {
  std::optional<std::int64_t> tasks;
  std::optional<std::int64_t> bytes_sent;  ///< of tiles, to other ranks
  /// Of all workers together: how long they were in MPI or had no task.
  std::optional<double> waiting_seconds;
};

class whole_system;

/// A system that runs the apps, with its workers, or one rank of it. Each function that runs an app computes
/// between region.start() and region.stop(): from the call of one thread until all is there.
class system : interface {
 public:
  /// Over ranks, it need not know how many there are, nor the release of their MPI.
  [[nodiscard]] virtual bench::identity describe() const = 0;
  [[nodiscard]] virtual bool has(way_kind /*how*/) const { return false; }
  /// The name of one of its ways in records.
  [[nodiscard]] virtual std::string_view variant(way_kind how) const { return name_of(how); }
  /// Calls steps(way) in a way that the system has, at the place from which its users start loops, or make
  /// tasks. A step is cut into `tasks` tasks.
  virtual counts run_steps(way_kind /*how*/, std::int64_t /*tasks*/, const program& /*steps*/,
                           bench::region_meter& /*region*/) {
    return {};
  }
  /// The system itself, if it computes GEMM and Cholesky by programs of its own.
  [[nodiscard]] virtual whole_system* whole() { return nullptr; }
};

/// A system that computes GEMM and Cholesky by programs of its own: calls of a library, or tiles that it
/// brings from rank to rank.
class whole_system : public system {
 public:
  /// How it takes its matrices.
  [[nodiscard]] virtual layout storage() const { return layout::tiles; }
  /// The part that the system would need to compute this and does not have; empty if it lacks none.
  [[nodiscard]] virtual std::string lacks(const setting& /*at*/) const { return {}; }
  virtual counts run(gemm& product, bench::region_meter& region) = 0;
  virtual counts run(cholesky& factors, bench::region_meter& region) = 0;
  [[nodiscard]] whole_system* whole() final { return this; }
};

}  // namespace teff::apps
