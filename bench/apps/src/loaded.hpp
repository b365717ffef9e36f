#pragma once

#include <memory>
#include <optional>
#include <span>

#include "teff/apps/system.hpp"
#include "teff/apps/work.hpp"
#include "teff/bench/drive.hpp"
#include "teff/bench/record.hpp"

namespace teff::apps {

/// The results of a rank in a run. Ranks send it as its bytes.
struct outcome {
  counts counted;
  double elapsed_seconds = 0;
  bench::noise seen;
};

/// The processes that a run is made on: here, this one.
class company : interface {
 public:
  [[nodiscard]] virtual bench::ranks& protocol() { return alone_; }
  [[nodiscard]] virtual int rank() const { return 0; }
  [[nodiscard]] virtual int size() const { return 1; }
  /// Adds to a system's identity the facts that only the ranks know.
  [[nodiscard]] virtual bench::identity identify(bench::identity who) const { return who; }
  /// Returns when all are here.
  virtual void meet() const {}
  virtual void add_up(std::span<double> /*values*/) const {}
  /// On rank 0 all ranks' outcomes in one: counts and noise added up, the longest time.
  [[nodiscard]] virtual outcome united(const outcome& mine) const { return mine; }

 private:
  bench::ranks alone_;
};

/// An app with its data, ready to run again and again on a system.
class loaded : interface {
 public:
  /// Forgets the result of the run before.
  virtual void reset() = 0;
  /// Runs it once, checks the result, and adds everything but the system's identity to the record.
  virtual void run(bench::record& said) = 0;
};

/// Throws `lack` if the system lacks what the app needs. `only` is the way that the user wants, if that is
/// one.
[[nodiscard]] std::unique_ptr<loaded> load(const work& asked, system& on, company& with,
                                           std::optional<way_kind> only);

}  // namespace teff::apps
