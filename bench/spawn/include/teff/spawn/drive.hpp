#pragma once

#include <functional>
#include <memory>
#include <string>

#include "teff/graphs/adapter.hpp"
#include "teff/bench/noise.hpp"
#include "teff/spawn/spawn_patterns.hpp"

namespace teff::patterns {

/// A system as the driver sees it.
class runner {
 public:
  runner() = default;
  runner(const runner&) = delete;
  runner& operator=(const runner&) = delete;
  virtual ~runner() = default;

  [[nodiscard]] virtual bench::identity describe() const = 0;
  /// Why it can't run this, or nothing.
  [[nodiscard]] virtual std::string missing(const work& asked) const = 0;
  /// Runs the pattern between region.start() and region.stop().
  [[nodiscard]] virtual result run(const work& asked, bench::region_meter& region) = 0;
};

/// Lives as long as the system's workers do. System is constructed with their number and has, besides what
/// spawn_patterns.hpp wants,
///   bench::identity describe() const;
///   void run(body);    calls body() once, where its patterns may start, with its workers awake.
template <class System>
class runner_of final : public runner {
 public:
  explicit runner_of(int workers) : system_(workers) {}
  [[nodiscard]] bench::identity describe() const override { return system_.describe(); }
  [[nodiscard]] std::string missing(const work& asked) const override {
    return patterns::missing<System>(asked);
  }
  [[nodiscard]] result run(const work& asked, bench::region_meter& region) override {
    result found;
    system_.run([&] {
      region.start();
      found = run_pattern<System>(asked);
      region.stop();
    });
    return found;
  }

 private:
  System system_;
};

/// The main program of a system's spawn patterns; see bench::drive.
int drive(int argc, char** argv, const std::function<std::unique_ptr<runner>(int workers)>& make,
          int workers);

template <class System>
int drive(int argc, char** argv, int workers = bench::usable_cores()) {
  return drive(argc, argv, [](int count) { return std::make_unique<runner_of<System>>(count); }, workers);
}

}  // namespace teff::patterns
