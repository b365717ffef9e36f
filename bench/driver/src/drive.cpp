#include "teff/bench/drive.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>

#include "teff/bench/failure.hpp"
#include "teff/bench/session.hpp"

namespace teff::bench {
namespace {

/// A line of the batch from rank 0 for everyone; false at its end.
bool next_line(ranks& all, std::string& line) {
  constexpr std::string_view end = "\n";  // no line can contain it
  if (all.rank() == 0 && !std::getline(std::cin, line)) line = end;
  all.broadcast(line);
  return line != end;
}

/// Makes a run ready on all ranks. Returns why it could not be, on all ranks alike: none waits in the run for
/// one that is not there.
std::string prepare(runner& system, const flags& of_run) {
  std::string error;
  try {
    system.prepare(of_run);
  } catch (const std::exception& failure) {
    error = reason_of(failure);
  }
  return system.processes().agree(std::move(error));
}

exit_code answer_all(runner& system, const benchmark& kind, const request& asked) {
  ranks& all = system.processes();
  session asked_for(kind, asked, system.describe(), all.rank() == 0,
                    [&](std::string& line) { return next_line(all, line); });
  while (const std::optional<flags> of_run = asked_for.next()) {
    const std::string error = prepare(system, *of_run);
    if (error.empty()) {
      asked_for.answer(system.run());
    } else {
      asked_for.refuse(error);
    }
  }
  return asked_for.code();
}

}  // namespace

int drive(int argc, char** argv, const benchmark& kind,
          const std::function<std::unique_ptr<runner>(int workers)>& start, int workers) try {
  const flags words(argv + 1, argv + argc);
  const request asked = read_request(words);
  check(kind, asked);
  if (answered_without_system(kind, asked)) return done;
  const std::unique_ptr<runner> system = start(asked.workers.value_or(workers));
  if (!system) return done;
  try {
    return answer_all(*system, kind, asked);
  } catch (const std::exception& failure) {
    system->processes().give_up(reason_of(failure));
    throw;
  }
} catch (const usage_error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return bad_input;
} catch (const std::exception& failure) {
  fmt::print(stderr, "error: {}\n", reason_of(failure));
  return failed;
}

bool needs_system(int argc, char** argv, const benchmark& kind) try {
  const request asked = read_request(flags(argv + 1, argv + argc));
  check(kind, asked);
  return asked.what != request::mode::help && asked.what != request::mode::cases;
} catch (const usage_error&) {
  return false;
}

}  // namespace teff::bench
