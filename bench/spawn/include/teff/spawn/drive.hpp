#pragma once

#include <functional>
#include <memory>
#include <string>

#include "teff/bench/identity.hpp"
#include "teff/bench/noise.hpp"
#include "teff/spawn/spawn_patterns.hpp"

namespace teff::spawn {

/// A system with its workers, which runs patterns.
class pattern_runner {
 public:
  pattern_runner() = default;
  pattern_runner(const pattern_runner&) = delete;
  pattern_runner& operator=(const pattern_runner&) = delete;
  virtual ~pattern_runner() = default;

  [[nodiscard]] virtual bench::identity describe() const = 0;
  /// Why the system can't run this; empty if it can.
  [[nodiscard]] virtual std::string missing(const work& asked) const = 0;
  /// Runs the pattern between region.start() and region.stop().
  [[nodiscard]] virtual result run(const work& asked, bench::region_meter& region) = 0;
};

/// Runs patterns on a system that is written as task_system.hpp says.
template <class System>
class runner_of final : public pattern_runner {
 public:
  explicit runner_of(int workers) : system_(workers) {}
  [[nodiscard]] bench::identity describe() const override { return system_.describe(); }
  [[nodiscard]] std::string missing(const work& asked) const override {
    return spawn::missing<System>(asked);
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
int drive(int argc, char** argv, const std::function<std::unique_ptr<pattern_runner>(int workers)>& make,
          int workers);

template <class System>
int drive(int argc, char** argv) {
  return drive(
      argc, argv, [](int count) { return std::make_unique<runner_of<System>>(count); },
      default_workers<System>());
}

}  // namespace teff::spawn
