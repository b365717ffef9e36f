#include "loaded.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "teff/apps/kernels.hpp"
#include "teff/bench/measure.hpp"

namespace teff::apps {
namespace {

/// A core's rate, while the other ranks wait. Short runs, one after the other, share one measurement.
class core_rate {
 public:
  /// FLOP/s, on rank 0.
  [[nodiscard]] double measured(const company& with) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds stays_true{250};
    with.meet();
    if (with.rank() == 0 && clock::now() >= until_) {
      found_ = kernels::measure_core();
      until_ = clock::now() + stays_true;
    }
    with.meet();
    return found_;
  }

 private:
  double found_ = 0;
  std::chrono::steady_clock::time_point until_;
};

/// Into how many tasks a step is cut. All workers share a worksharing task, and each worker has the same part
/// of it every time. With two tasks a step, the worker that begins a task also takes the other worker's part
/// of it. The data of that part moves to another core at each step.
std::int64_t tasks_of_step(std::int64_t asked, way_kind how, int workers) {
  if (how == way_kind::loops) return 1;
  if (asked > 0) return asked;
  return how == way_kind::worksharing ? 1 : std::int64_t{4} * workers;
}

/// What runs the app: a way of the system, or the system's own program.
struct runs_by {
  whole_system* whole = nullptr;
  way_kind how{};  ///< if it is a way
};

class loaded_app final : public loaded {
 public:
  loaded_app(const work& asked, const runs_by& by, system& on, company& with)
      : what_(*asked.what),
        by_(by),
        tasks_(tasks_of_step(asked.tasks, by.how, on.describe().workers)),
        system_(on),
        company_(with),
        app_(asked.make({.rank = with.rank(),
                         .ranks = with.size(),
                         .workers = on.describe().workers,
                         .whole = by.whole,
                         .add_up = [&with](std::span<double> values) { with.add_up(values); }})) {
    app_->reset();
  }

  void reset() override { app_->reset(); }

  void run(bench::record& said) override {
    static core_rate rate;
    const double of_core = what_.on_tiles ? rate.measured(company_) : 0;
    counts counted;
    bench::measurement measured = bench::measure([&](bench::region_meter& region) {
      company_.meet();
      counted = by_.whole != nullptr ? app_->run(*by_.whole, region)
                                     : run_steps([&](way& by) { app_->run(by); }, region);
    });
    const finding found = checked();
    const outcome all = company_.united({counted, measured.elapsed_seconds, measured.seen});
    measured.elapsed_seconds = all.elapsed_seconds;
    measured.seen = all.seen;
    const bool is_near = found.residual <= found.bound;  // not, if it is not a number
    if (!is_near)
      said.error = fmt::format("the residual is {:.1e}: rounding explains at most {:.1e}", found.residual,
                               found.bound);
    if (!found.wrong.empty()) said.error = found.wrong;
    measured.validation = {
        {"passed", said.error.empty()}, {"residual", found.residual}, {"bound", found.bound}};
    said.measured = std::move(measured);
    describe(said, found, all);
    if (what_.on_tiles) said.own["core_flops_per_second"] = of_core;
  }

 private:
  void describe(bench::record& said, const finding& found, const outcome& all) const {
    said.own["parameters"] = {{"app", what_.name}};
    if (!what_.on_tiles) said.own["parameters"]["tasks"] = tasks_;
    said.own["parameters"].update(app_->parameters());
    if (by_.whole == nullptr) {
      said.who.variant = system_.variant(by_.how);
      said.own["way"] = name_of(by_.how);
    }
    said.own["work"] = app_->work();
    said.own["unit"] = what_.unit;
    said.own["own"] = found.own;
    if (all.counted.tasks) said.own["tasks"] = *all.counted.tasks;
    if (all.counted.bytes_sent) said.own["bytes_sent"] = *all.counted.bytes_sent;
    if (all.counted.waiting_seconds)
      said.own["waiting_share"] = *all.counted.waiting_seconds / (said.who.workers * all.elapsed_seconds);
  }

  counts run_steps(const program& steps, bench::region_meter& region) {
    return system_.run_steps(by_.how, tasks_, steps, region);
  }
  /// Of one rank, by calls: no fault of the system hides in the check.
  [[nodiscard]] finding checked() {
    if (company_.size() == 1 || by_.whole != nullptr) {
      loops calls([](std::int64_t count, const auto& body) { body({0, count}); });
      return app_->check(calls);
    }
    finding found;
    bench::region_meter not_measured;
    run_steps([&](way& by) { found = app_->check(by); }, not_measured);
    return found;
  }

  const description& what_;
  runs_by by_;
  std::int64_t tasks_;
  system& system_;
  company& company_;
  std::unique_ptr<app> app_;
};

/// The first of the app's ways that the system has.
way_kind way_for(const description& what, const system& on, const company& with,
                 std::optional<way_kind> only) {
  const auto is_possible = [&](way_kind each) { return on.has(each) && (!only || *only == each); };
  const auto found = std::ranges::find_if(what.ways, is_possible);
  if (found == what.ways.end()) {
    std::vector<std::string_view> names, others;
    for (const way_kind each : only ? std::vector{*only} : what.ways) names.push_back(name_of(each));
    for (const description& each : all_apps())
      if ((with.size() == 1 || each.over_ranks) && std::ranges::any_of(each.ways, is_possible))
        others.push_back(each.name);
    throw lack(fmt::format("it runs no steps of {} as {}; those it runs: {}", what.name, fmt::join(names, ", "),
                           others.empty() ? "none" : fmt::format("{}", fmt::join(others, ", "))));
  }
  if (with.size() > 1 && !what.over_ranks)
    throw lack(fmt::format("{} runs in one process, not over {} ranks", what.name, with.size()));
  return *found;
}

}  // namespace

std::unique_ptr<loaded> load(const work& asked, system& on, company& with, std::optional<way_kind> only) {
  const description& what = *asked.what;
  runs_by by;
  if (what.on_tiles && !only) by.whole = on.whole();
  if (by.whole == nullptr) by.how = way_for(what, on, with, only);
  if (const std::string missing = kernels::missing(); what.on_tiles && !missing.empty()) throw lack(missing);
  return std::make_unique<loaded_app>(asked, by, on, with);
}

}  // namespace teff::apps
