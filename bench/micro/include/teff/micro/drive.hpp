#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "teff/bench/cores.hpp"
#include "teff/bench/identity.hpp"
#include "teff/bench/noise.hpp"
#include "teff/micro/grid.hpp"

namespace teff::micro {

/// A system that runs grids of tasks, with its workers.
class micro_runner {
 public:
  micro_runner() = default;
  micro_runner(const micro_runner&) = delete;
  micro_runner& operator=(const micro_runner&) = delete;
  virtual ~micro_runner() = default;

  [[nodiscard]] virtual bench::identity describe() const = 0;
  /// Why the system can't run this; empty if it can.
  [[nodiscard]] virtual std::string missing(const work& asked) const = 0;
  /// Runs all tasks, between region.start() and region.stop(). The region begins when all workers are awake.
  /// All tasks are made in it, unless they have to be inserted before.
  virtual void run(grid& tasks, bench::region_meter& region) = 0;
};

/// The same as a class that each system has. `inserts_before`: it can make tasks, and have none begin before
/// the clock starts. It has `shapes`, a range, if it knows other shapes than tasks.
template <class System>
concept micro_system = requires(System& system, grid& tasks, bench::region_meter& region) {
  { system.describe() } -> std::same_as<bench::identity>;
  { System::inserts_before } -> std::convertible_to<bool>;
  system.run(tasks, region);
};

template <micro_system System>
class micro_runner_of final : public micro_runner {
 public:
  explicit micro_runner_of(int workers) : system_(workers) {}
  [[nodiscard]] bench::identity describe() const override { return system_.describe(); }
  [[nodiscard]] std::string missing(const work& asked) const override {
    if (asked.is_inserted && !System::inserts_before) return "its tasks begin when they are made";
    bool has_shape = asked.made_by == shape::tasks;
    if constexpr (requires { System::shapes; })
      has_shape = has_shape || std::ranges::find(System::shapes, asked.made_by) != std::end(System::shapes);
    return has_shape ? "" : "it has no tasks of this shape";
  }
  void run(grid& tasks, bench::region_meter& region) override { system_.run(tasks, region); }

 private:
  System system_;
};

/// The main program of a system; see bench::drive.
int drive(int argc, char** argv, const std::function<std::unique_ptr<micro_runner>(int workers)>& make,
          int workers);

template <micro_system System>
int drive(int argc, char** argv, int workers = bench::usable_cores()) {
  return drive(
      argc, argv, [](int count) { return std::make_unique<micro_runner_of<System>>(count); }, workers);
}

}  // namespace teff::micro
