#include "teff/bench/drive.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "micro_benchmark.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/measure.hpp"
#include "teff/micro/drive.hpp"

namespace teff::micro {
namespace {

using bench::json;

std::string hexadecimal(std::uint64_t value) {
  return fmt::format("0x{:016x}", value);
}

json parameters(const work& asked) {
  return {{"shape", name(asked.made_by)},
          {"rows", asked.rows},
          {"columns", asked.columns},
          {"dependences", asked.dependences},
          {"spin_seconds", std::chrono::duration<double>(asked.spin).count()},
          {"inserted", asked.is_inserted}};
}

/// Runs the grid, and puts the results into the record.
void measure(micro_runner& system, grid& tasks, std::uint64_t expected, bench::record& run) {
  bench::measurement measured =
      bench::measure([&](bench::region_meter& region) { system.run(tasks, region); });
  const std::uint64_t found = tasks.checksum();
  if (found != expected) run.error = "a task did not run, or ran before one that it needs";
  measured.validation = {
      {"passed", run.error.empty()}, {"checksum", hexadecimal(found)}, {"expected", hexadecimal(expected)}};
  run.measured = std::move(measured);
}

/// A system that runs one grid after the other.
class runner_of_grids final : public bench::runner {
 public:
  explicit runner_of_grids(std::unique_ptr<micro_runner> system) : system_(std::move(system)) {}

  [[nodiscard]] bench::identity describe() const override { return system_->describe(); }
  [[nodiscard]] bench::ranks& processes() override { return this_one_; }
  void prepare(const bench::flags& of_run) override {
    if (tasks_ && of_run == flags_) return tasks_->reset();
    tasks_.reset();
    work asked = parse_work(of_run);
    if (asked.rows == 0) asked.rows = describe().workers;
    expected_ = expected_checksum(asked);
    tasks_.emplace(asked);
    flags_ = of_run;
  }
  [[nodiscard]] bench::answer run() override {
    bench::record run{.who = describe()};
    const work& asked = tasks_->asked();
    run.own["parameters"] = parameters(asked);
    run.own["tasks"] = asked.tasks();
    run.own["dependencies"] = asked.edges();
    run.error = system_->missing(asked);
    run.lacks = !run.error.empty();
    if (run.error.empty()) try {
        measure(*system_, *tasks_, expected_, run);
      } catch (const std::exception& failure) {
        run.error = bench::reason_of(failure);
      }
    return {.said = std::move(run)};
  }

 private:
  std::unique_ptr<micro_runner> system_;
  bench::flags flags_;  ///< of what is loaded
  std::optional<grid> tasks_;
  std::uint64_t expected_ = 0;
  bench::ranks this_one_;
};

}  // namespace

int drive(int argc, char** argv, const std::function<std::unique_ptr<micro_runner>(int workers)>& make,
          int workers) {
  const auto start = [&](int count) { return std::make_unique<runner_of_grids>(make(count)); };
  return bench::drive(argc, argv, micro_benchmark(), start, workers);
}

}  // namespace teff::micro
