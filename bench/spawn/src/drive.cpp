#include "teff/bench/drive.hpp"

#include <chrono>
#include <optional>

#include "spawn_benchmark.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/measure.hpp"
#include "teff/bench/memory.hpp"
#include "teff/spawn/drive.hpp"
#include "teff/spawn/profile.hpp"
#include "teff/spawn/record.hpp"

namespace teff::spawn {
namespace {

/// Runs the pattern, and puts its result and its time into the record.
void measure(pattern_runner& system, record& run) {
  std::int64_t peak_bytes = 0;
  run.measured = bench::measure([&](bench::region_meter& region) {
    reset_null_tasks();
    bench::reset_peak_resident();
    run.found = system.run(run.asked, region);
    run.found.null_tasks = null_tasks_run();
    peak_bytes = bench::peak_resident_bytes();
  });
  run.measured->peak_resident_bytes = peak_bytes;
  if (run.asked.what == pattern::tree) run.generator_seconds = generator_seconds();
}

record run_once(pattern_runner& system, const work& asked, std::int64_t empty_bytes) {
  record run{.who = system.describe(),
             .asked = asked,
             .wanted = expected(asked),
             .empty_resident_bytes = empty_bytes};
  run.error = system.missing(asked);
  run.lacks = !run.error.empty();
  if (run.lacks) return run;
  try {
    measure(system, run);
    run.error = difference(asked, run.found, run.wanted);
  } catch (const std::exception& failure) {
    run.error = bench::reason_of(failure);
  }
  return run;
}

/// Runs the pattern until it has been looked at for so long.
profile take_profile(pattern_runner& system, const work& asked, std::chrono::duration<double> length) {
  profile seen{.who = system.describe(), .asked = asked, .started_at = bench::time_now()};
  seen.error = system.missing(asked);
  if (!seen.error.empty()) return seen;
  const result wanted = expected(asked);
  std::optional<sampler> looks;
  for (bool warm = false; seen.elapsed_seconds < length.count(); warm = true) {
    bench::region_meter region;
    reset_null_tasks();
    if (warm) looks->start();
    result found = system.run(asked, region);
    if (warm) looks->stop();
    found.null_tasks = null_tasks_run();
    seen.error = difference(asked, found, wanted);
    if (!seen.error.empty()) return seen;
    if (!warm) {
      looks.emplace(seen.who.workers);  // by now the workers are there
      continue;
    }
    ++seen.runs;
    seen.elapsed_seconds += region.elapsed().count();
    const auto began = region.started();
    looks->collect(began,
                   began + std::chrono::duration_cast<std::chrono::steady_clock::duration>(region.elapsed()),
                   seen);
  }
  return seen;
}

/// A system of tasks that runs one pattern after the other.
class spawn_runner final : public bench::runner {
 public:
  spawn_runner(std::unique_ptr<pattern_runner> system, std::int64_t empty_bytes)
      : system_(std::move(system)), empty_bytes_(empty_bytes) {}

  [[nodiscard]] bench::identity describe() const override { return system_->describe(); }
  [[nodiscard]] bench::ranks& processes() override { return this_one_; }
  void prepare(const bench::flags& of_run) override { asked_ = parse_command(of_run); }
  [[nodiscard]] bench::answer run() override {
    if (asked_.profile_seconds > 0) {
      const profile seen =
          take_profile(*system_, asked_.work, std::chrono::duration<double>(asked_.profile_seconds));
      return {.said = {.who = seen.who, .error = seen.error}, .text = to_json(seen)};
    }
    return {.said = to_record(run_once(*system_, asked_.work, empty_bytes_))};
  }

 private:
  std::unique_ptr<pattern_runner> system_;
  std::int64_t empty_bytes_;
  command asked_;
  bench::ranks this_one_;
};

}  // namespace

int drive(int argc, char** argv, const std::function<std::unique_ptr<pattern_runner>(int workers)>& make,
          int workers) {
  const auto start = [&](int count) {
    const std::int64_t empty_bytes = bench::peak_resident_bytes();
    return std::make_unique<spawn_runner>(make(count), empty_bytes);
  };
  return bench::drive(argc, argv, spawn_benchmark(), start, workers);
}

}  // namespace teff::spawn
