#include "teff/spawn/drive.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <optional>

#include "teff/graphs/configuration.hpp"
#include "teff/bench/failure.hpp"
#include "teff/graphs/record.hpp"
#include "teff/bench/memory.hpp"
#include "teff/spawn/profile.hpp"
#include "teff/spawn/record.hpp"

namespace teff::patterns {
namespace {

using namespace std::chrono_literals;

enum exit_code : int { done = 0, failed = 1, bad_input = 2 };
constexpr auto gap_spin = 500us;

/// UTC, ISO 8601 with milliseconds.
std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds % 1000);
}

/// Runs the pattern, and says in the record what came of it and what it took.
void measure(runner& system, record& run) {
  bench::region_meter region;
  reset_null_tasks();
  reset_peak_resident();
  const double gap_before = bench::measure_gap_share(gap_spin);
  run.found = system.run(run.asked, region);
  run.found.null_tasks = null_tasks_run();
  run.peak_resident_bytes = peak_resident_bytes();
  run.elapsed_seconds = region.elapsed().count();
  run.seen = region.seen();
  run.seen.gap_share_before = gap_before;
  run.seen.gap_share_after = bench::measure_gap_share(gap_spin);
  if (run.asked.what == pattern::tree) run.generator_seconds = generator_seconds();
}

record run_once(runner& system, const work& asked, std::int64_t empty_bytes) {
  record run{.who = system.describe(),
             .asked = asked,
             .wanted = expected(asked),
             .empty_resident_bytes = empty_bytes,
             .started_at = time_now()};
  run.error = system.missing(asked);
  if (!run.error.empty()) return run;
  try {
    measure(system, run);
    run.error = difference(asked, run.found, run.wanted);
  } catch (const std::exception& failure) {
    run.error = bench::reason_of(failure);
  }
  return run;
}

void print(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Answers each line of the input with a record.
void run_batch(runner& system, std::int64_t empty_bytes) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      print(to_json(run_once(system, parse_work(line), empty_bytes)));
    } catch (const bench::usage_error& wrong) {
      print(patterns::error_json(system.describe(), wrong.what()));
    }
  }
}

exit_code run_single(runner& system, const work& asked, std::int64_t empty_bytes) {
  const record run = run_once(system, asked, empty_bytes);
  print(to_json(run));
  if (run.error.empty()) return done;
  fmt::print(stderr, "error: {}\n", run.error);
  return failed;
}

/// Runs the pattern until it has been looked at for so long.
profile take_profile(runner& system, const work& asked, std::chrono::duration<double> length) {
  profile seen{.who = system.describe(), .asked = asked, .started_at = time_now()};
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

exit_code run_profile(runner& system, const command& asked) {
  const profile seen = take_profile(system, asked.work, std::chrono::duration<double>(asked.profile_seconds));
  print(to_json(seen));
  if (seen.error.empty()) return done;
  fmt::print(stderr, "error: {}\n", seen.error);
  return failed;
}

}  // namespace

int drive(int argc, char** argv, const std::function<std::unique_ptr<runner>(int workers)>& make,
          int workers) try {
  const std::vector<std::string> flags(argv + 1, argv + argc);
  const command asked = parse_command(flags);
  if (asked.what == command::mode::help) {
    fmt::print("{}", asked.help);
    return done;
  }
  const std::int64_t empty_bytes = peak_resident_bytes();
  const std::unique_ptr<runner> system = make(asked.workers.value_or(workers));
  if (asked.what == command::mode::identity) {
    print(bench::to_json(system->describe()));
    return done;
  }
  if (asked.what == command::mode::run) return run_single(*system, asked.work, empty_bytes);
  if (asked.what == command::mode::profile) return run_profile(*system, asked);
  run_batch(*system, empty_bytes);
  return done;
} catch (const bench::usage_error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return bad_input;
} catch (const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", bench::reason_of(failure));
  return failed;
}

}  // namespace teff::patterns
