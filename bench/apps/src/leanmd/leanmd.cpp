#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "leanmd/known.hpp"
#include "leanmd/problem.hpp"
#include "leanmd/simulate.hpp"
#include "teff/apps/app.hpp"
#include "teff/apps/box.hpp"

namespace teff::apps::leanmd {
namespace {

/// Some time steps of the particles in a box of cells.
class molecules final : public app {
 public:
  molecules(const apps::box& cells, int steps)
      : cells_(cells), steps_(steps), first_({cells[0], cells[1], cells[2]}), now_(first_) {}

  void reset() override {
    now_ = first_;
    seen_ = {};
  }
  void run(way& by) override { seen_ = simulate(now_, steps_, by); }

  /// The total energy changes little, by the kinetic energy of the first step. The sum of all velocities and
  /// the number of particles stay.
  [[nodiscard]] finding check(way& /*by*/) override {
    constexpr double rounding = 1e-11;
    finding found{.residual = std::abs((seen_.last.potential + seen_.last.kinetic -
                                        (seen_.first.potential + seen_.first.kinetic)) /
                                       seen_.first.kinetic),
                  .bound = 0.02,
                  .own = {{"potential_first", seen_.first.potential},
                          {"potential_last", seen_.last.potential},
                          {"kinetic_first", seen_.first.kinetic},
                          {"kinetic_last", seen_.last.kinetic}}};
    const triple before = total_velocity(first_);
    const triple after = total_velocity(now_);
    const double gained =
        std::max({std::abs(after.x - before.x), std::abs(after.y - before.y), std::abs(after.z - before.z)});
    if (particles(now_) != particles(first_))
      found.wrong = fmt::format("{} of {} particles are left", particles(now_), particles(first_));
    else if (!(gained <= rounding))
      found.wrong = fmt::format("the sum of all velocities changed by {:.1e}", gained);
    else
      found.wrong = difference_to_known();
    return found;
  }

  [[nodiscard]] double work() const override { return static_cast<double>(particles(first_)) * steps_; }
  [[nodiscard]] bench::json parameters() const override { return {{"cells", cells_}, {"steps", steps_}}; }

 private:
  [[nodiscard]] std::string difference_to_known() const {
    constexpr double tolerance = 1e-10;
    const std::array ours{seen_.first.potential, seen_.first.kinetic, seen_.last.potential,
                          seen_.last.kinetic};
    for (const known& each : all_known) {
      if (each.cells != first_.space.cells || each.steps != steps_) continue;
      const std::array known{each.found.first.potential, each.found.first.kinetic, each.found.last.potential,
                             each.found.last.kinetic};
      for (std::size_t i = 0; i < ours.size(); ++i)
        if (known.at(i) != 0 && !(std::abs(ours.at(i) / known.at(i) - 1) <= tolerance))
          return fmt::format("an energy is {:.12g} millijoules: it must be {:.12g}", ours.at(i), known.at(i));
    }
    return {};
  }

  apps::box cells_;
  int steps_;
  problem first_;
  problem now_;
  outcome seen_;
};

}  // namespace

description::maker read_flags(bench::flag_parser& parser) {
  constexpr int most_steps = 1'000'000;
  const auto cells = std::make_shared<std::string>("3x3x3");
  const auto steps = std::make_shared<int>(21);
  parser.add("--cells", *cells, "cells along each side of the box, at least three")
      .checked_by(fault_of_box)
      .takes("NXxNYxNZ");
  parser.add("--steps", *steps, "time steps, of a femtosecond each").within(1, most_steps).takes("COUNT");
  return [cells, steps](const apps::place&) { return std::make_unique<molecules>(box_of(*cells), *steps); };
}

}  // namespace teff::apps::leanmd

namespace teff::apps {

description describe_leanmd() {
  return {.name = "leanmd",
          .title = "molecular dynamics in a periodic box of cells (LeanMD)",
          .unit = "particle",
          .ways = {way_kind::loops, way_kind::worksharing, way_kind::tasks},
          .cases = {{"leanmd-3", "molecular dynamics, 3 x 3 x 3 cells, 21 steps", "-cells 3x3x3 -steps 21"},
                    {"leanmd-4", "molecular dynamics, 4 x 4 x 4 cells, 21 steps", "-cells 4x4x4 -steps 21",
                     false},
                    {"leanmd-short",
                     "molecular dynamics, 3 x 3 x 3 cells, 2 steps",
                     "-cells 3x3x3 -steps 2",
                     false,
                     {1}}},
          .own = {{"potential_first", "the potential energy in the first step, in millijoules"},
                  {"potential_last", "the same in the last step"},
                  {"kinetic_first", "the kinetic energy in the first step, in millijoules"},
                  {"kinetic_last", "the same in the last step"}},
          .residual = "the change of the total energy, by the kinetic energy of the first step",
          .over_ranks = false,
          .flags = &leanmd::read_flags};
}

}  // namespace teff::apps
