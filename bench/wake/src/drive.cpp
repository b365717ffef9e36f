#include "teff/bench/drive.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "teff/bench/failure.hpp"
#include "teff/bench/measure.hpp"
#include "teff/wake/bare_wake.hpp"
#include "teff/wake/drive.hpp"
#include "wake_benchmark.hpp"

namespace teff::wake {
namespace {

using bench::json;

constexpr int bare_samples = 50;

json quantiles(const std::vector<double>& samples) {
  return {{"median", quantile(samples, 0.5)}, {"p95", quantile(samples, 0.95)}};
}

/// Runs it, and puts the results into the record.
void measure(wake_runner& system, const work& asked, bench::record& run) {
  result found;
  bench::measurement measured =
      bench::measure([&](bench::region_meter& region) { found = system.run(asked, region); });
  const auto wakes = static_cast<std::int64_t>(found.wake_seconds.size());
  if (wakes < asked.wakes)
    run.error =
        fmt::format("no other worker took a task within a second, at wake {} of {}", wakes + 1, asked.wakes);
  measured.validation = {{"passed", run.error.empty()}, {"found", wakes}, {"expected", asked.wakes}};
  if (wakes > 0) run.own["wake_seconds"] = quantiles(found.wake_seconds);
  run.own["idle_cpu_share"] = found.idle_cpu_seconds / (found.idle_seconds * run.who.workers);
  run.measured = std::move(measured);
}

/// A system of tasks that is left idle and woken, one run after the other.
class runner_on_tasks final : public bench::runner {
 public:
  runner_on_tasks(std::unique_ptr<wake_runner> system, std::vector<double> bare)
      : system_(std::move(system)), bare_(std::move(bare)) {}

  [[nodiscard]] bench::identity describe() const override { return system_->describe(); }
  [[nodiscard]] bench::ranks& processes() override { return this_one_; }
  void prepare(const bench::flags& of_run) override { asked_ = parse_work(of_run); }
  [[nodiscard]] bench::answer run() override {
    bench::record run{.who = describe(), .error = system_->missing()};
    run.lacks = !run.error.empty();
    run.own["parameters"] = {{"wakes", asked_.wakes}, {"idle_seconds", asked_.idle.count()}};
    if (!bare_.empty()) run.own["bare_wake_seconds"] = quantiles(bare_);
    if (run.error.empty()) try {
        measure(*system_, asked_, run);
      } catch (const std::exception& failure) {
        run.error = bench::reason_of(failure);
      }
    return {.said = std::move(run)};
  }

 private:
  std::unique_ptr<wake_runner> system_;
  std::vector<double> bare_;
  work asked_;
  bench::ranks this_one_;
};

}  // namespace

int drive(int argc, char** argv, const std::function<std::unique_ptr<wake_runner>(int workers)>& make,
          int workers) {
  const auto start = [&](int count) {
    std::vector<double> bare = bare_wakes(bare_samples);  // before the system's workers are in its way
    return std::make_unique<runner_on_tasks>(make(count), std::move(bare));
  };
  return bench::drive(argc, argv, wake_benchmark(), start, workers);
}

}  // namespace teff::wake
