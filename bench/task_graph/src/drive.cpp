#include <fmt/format.h>
#include <sched.h>

#include <cstdio>
#include <iostream>

#include "measured_run.hpp"
#include "session.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/bench/failure.hpp"
#include "teff/graphs/record.hpp"

namespace teff::bench {
namespace {

/// Makes a configuration ready on all ranks. Returns why it could not be, on all ranks alike: none waits in
/// the run for one that is not there.
std::string make_ready(adapter& system, configuration work, std::optional<measured_run>& run) {
  std::string error;
  try {
    run.emplace(std::move(work), system.local_workers());
  } catch (const std::exception& failure) {
    error = reason_of(failure);
  }
  return system.agree(std::move(error));
}

/// Runs a configuration on all ranks; the record is rank 0's.
record run_once(adapter& system, measured_run& run) {
  std::string error;
  try {
    system.run(run.load());
  } catch (const std::exception& failure) {
    error = reason_of(failure);
  }
  const outcome mine = run.finish(std::move(error));
  return judge(system.describe(), run.load(), system.gather(mine), run.started_at());
}

/// A line of the batch from rank 0 for everyone; false at its end.
bool next_line(adapter& system, std::string& line) {
  constexpr std::string_view end = "\n";  // no line can contain it
  if (system.rank() == 0 && !std::getline(std::cin, line)) line = end;
  system.broadcast(line);
  return line != end;
}

/// Answers all that is asked for; returns the exit code.
int answer_all(adapter& system, const command& asked) {
  session asked_for(asked, system.describe(), system.rank() == 0,
                    [&](std::string& line) { return next_line(system, line); });
  while (std::optional<configuration> work = asked_for.next()) {
    std::optional<measured_run> run;
    const std::string error = make_ready(system, *std::move(work), run);
    if (error.empty()) {
      asked_for.answer(run_once(system, *run));
    } else {
      asked_for.refuse(error);
    }
  }
  return asked_for.code();
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

int drive(int argc, char** argv, const std::function<std::unique_ptr<adapter>(int workers)>& make,
          int workers) try {
  const std::vector<std::string> flags(argv + 1, argv + argc);
  const command asked = parse_command(flags);
  if (asked.what == command::mode::help) {
    fmt::print("{}", asked.help);
    return 0;
  }
  const std::unique_ptr<adapter> system = make(asked.workers.value_or(workers));
  if (!system) return session::done;
  try {
    return answer_all(*system, asked);
  } catch (const std::exception& failure) {
    system->give_up(reason_of(failure));
    throw;
  }
} catch (const usage_error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return session::bad_input;
} catch (const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", reason_of(failure));
  return session::failed;
}

}  // namespace teff::bench
