#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "loaded.hpp"
#include "teff/bench/measure.hpp"

namespace teff::apps {
namespace {

/// Into how many tasks a step is cut. All workers share a worksharing task, and each worker has the same part
/// of it every time. With two tasks a step, the worker that begins a task also takes the other worker's part
/// of it. The data of that part moves to another core at each step.
std::int64_t tasks_of_step(const work_in_steps& asked, way_kind how, int workers) {
  if (how == way_kind::loops) return 1;
  if (asked.tasks > 0) return asked.tasks;
  return how == way_kind::worksharing ? 1 : std::int64_t{4} * workers;
}

class loaded_steps final : public loaded {
 public:
  loaded_steps(const work_in_steps& asked, way_kind how, system& on, company& with)
      : what_(*asked.what),
        how_(how),
        tasks_(tasks_of_step(asked, how, on.describe().workers)),
        system_(on),
        company_(with),
        app_(asked.make({with.rank(), with.size()})) {
    app_->reset();
  }

  void reset() override { app_->reset(); }

  void run(bench::record& said) override {
    counts counted;
    bench::measurement measured = bench::measure([&](bench::region_meter& region) {
      company_.meet();
      counted = system_.run_steps(how_, tasks_, [&](way& by) { app_->run(by); }, region);
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
    said.who.variant = system_.variant(how_);
    said.own["parameters"] = {{"app", what_.name}, {"tasks", tasks_}};
    said.own["parameters"].update(app_->parameters());
    said.own["way"] = name_of(how_);
    said.own["work"] = app_->work();
    said.own["unit"] = what_.unit;
    if (all.counted.tasks) said.own["tasks"] = *all.counted.tasks;
    if (all.counted.waiting_seconds)
      said.own["waiting_share"] = *all.counted.waiting_seconds / (said.who.workers * all.elapsed_seconds);
    said.own.update(found.own);
  }

 private:
  /// Of one rank, by calls: no fault of the system hides in the check.
  [[nodiscard]] finding checked() {
    if (company_.size() == 1) {
      loops calls([](std::int64_t count, const auto& body) { body({0, count}); });
      return app_->check(calls);
    }
    finding found;
    bench::region_meter not_measured;
    system_.run_steps(how_, tasks_, [&](way& by) { found = app_->check(by); }, not_measured);
    return found;
  }

  const description& what_;
  way_kind how_;
  std::int64_t tasks_;
  system& system_;
  company& company_;
  std::unique_ptr<app_over_ways> app_;
};

}  // namespace

std::unique_ptr<loaded> load(const work_in_steps& asked, system& on, company& with,
                             std::optional<way_kind> only) {
  const std::vector<way_kind>& ways = asked.what->ways;
  const auto is_possible = [&](way_kind each) { return on.has(each) && (!only || *only == each); };
  const auto found = std::ranges::find_if(ways, is_possible);
  if (found == ways.end()) {
    std::vector<std::string_view> names;
    for (const way_kind each : ways) names.push_back(name_of(each));
    throw lack(fmt::format("it runs no steps of {} as {}", asked.what->name, fmt::join(names, ", ")));
  }
  if (with.size() > 1 && !asked.what->over_ranks)
    throw lack(fmt::format("{} runs in one process, not over {} ranks", asked.what->name, with.size()));
  return std::make_unique<loaded_steps>(asked, *found, on, with);
}

}  // namespace teff::apps
