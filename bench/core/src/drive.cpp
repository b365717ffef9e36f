#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "teff/bench/adapter.hpp"
#include "teff/bench/record.hpp"

namespace teff::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto gap_spin = 500us;
constexpr int failed = 1;
constexpr int bad_input = 2;

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds);
}

/// Runs a configuration on all ranks; the record is rank 0's.
record run_once(adapter& system, const configuration& work) {
  const std::string started_at = time_now();
  workload load(work, system.local_workers());
  outcome mine;
  const double gap_share_before = measure_gap_share(gap_spin);
  try {
    system.run(load);
  } catch (const std::exception& failure) {
    mine.error = failure.what();
  }
  mine.seen = load.region().seen();
  mine.seen.gap_share_before = gap_share_before;
  mine.seen.gap_share_after = measure_gap_share(gap_spin);
  mine.elapsed_seconds = load.region().elapsed().count();
  mine.done = load.done();
  if (mine.error.empty()) mine.error = load.error();
  return judge(system.describe(), load, system.gather(mine), started_at);
}

void print(adapter& system, const std::string& text) {
  if (system.rank() != 0) return;
  std::fputs(text.c_str(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

/// A line of the batch from rank 0 for everyone; false at its end.
bool next_line(adapter& system, std::string& line) {
  constexpr std::string_view end = "\n";  // no line can contain it
  if (system.rank() == 0 && !std::getline(std::cin, line)) line = end;
  system.broadcast(line);
  return line != end;
}

void run_batch(adapter& system) {
  std::string line;
  while (next_line(system, line)) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      print(system, to_json(run_once(system, parse_configuration(line))));
    } catch (const std::exception& failure) {
      print(system, error_json(system.describe(), failure.what()));
    }
  }
}

int run_single(adapter& system, const command& asked) {
  if (asked.work.verbosity > 0) print(system, describe(asked.work));
  const record run = run_once(system, asked.work);
  print(system, asked.report ? to_report(run) : to_json(run));
  if (run.error.empty() || system.rank() != 0) return 0;
  fmt::print(stderr, "error: {}\n", run.error);
  return failed;
}

}  // namespace

int usable_cores() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  return sched_getaffinity(0, sizeof(mask), &mask) == 0 ? CPU_COUNT(&mask) : 1;
}

void bind_to_core(int index) {
  // The process's mask, not the calling thread's: that one may have been narrowed by an earlier call.
  static const cpu_set_t process_mask = [] {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof(mask), &mask);
    return mask;
  }();
  const int cores = CPU_COUNT(&process_mask);
  if (cores == 0) return;
  int left = index % cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &process_mask) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    return;
  }
}

int drive(int argc, char** argv, const std::function<std::unique_ptr<adapter>(int workers)>& make) try {
  const std::vector<std::string> flags(argv + 1, argv + argc);
  const command asked = parse_command(flags);
  if (asked.what == command::mode::help) {
    fmt::print("{}", asked.help);
    return 0;
  }
  const std::unique_ptr<adapter> system = make(asked.workers.value_or(usable_cores()));
  switch (asked.what) {
    case command::mode::identity:
      print(*system, to_json(system->describe()));
      return 0;
    case command::mode::batch:
      run_batch(*system);
      return 0;
    default:
      return run_single(*system, asked);
  }
} catch (const usage_error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return bad_input;
} catch (const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return failed;
}

}  // namespace teff::bench
