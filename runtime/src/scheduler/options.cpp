#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "scheduler/scheduler.hpp"

namespace teff::detail {

namespace {

constexpr unsigned most_workers = 1024;
constexpr std::size_t default_stack = std::size_t{256} << 20;
constexpr std::size_t least_stack = std::size_t{256} << 10;
constexpr std::size_t most_stack = std::size_t{960} << 20;  // a deque has at most 2^24 slots
constexpr std::size_t page = 4096;
constexpr std::chrono::microseconds default_spin{50};
constexpr std::chrono::microseconds most_spin = std::chrono::hours(24) * 365;  // no time overflows by it
constexpr unsigned default_spare_threads = 256;
constexpr unsigned most_spare_threads = 16384;
constexpr std::size_t default_events = std::size_t{1} << 18;
constexpr std::size_t most_events = std::size_t{1} << 28;  // 8 GiB a worker

// An option that is a number. An error says: `rule`, the bounds, `rest`.
struct numeric_option {
  const char* option;  // of teff::runtime_options
  const char* variable;
  std::uint64_t least;
  std::uint64_t most;
  const char* rule;
  const char* rest;
};

constexpr numeric_option workers_limits{
    "workers",    "TEFF_WORKERS", 1,
    most_workers, "there can be", "workers; leave it out to have one for each core it may use"};
constexpr numeric_option bind_limits{
    "bind",  "TEFF_BIND",
    0,       1,
    "it is", "(0: workers keep to no core); leave it out to have each keep to a core as far as it helps"};
constexpr numeric_option stack_size_limits{
    "stack_size",
    "TEFF_STACK_SIZE",
    least_stack,
    most_stack,
    "a worker's stack has",
    "bytes; leave it out to have 256 MiB, which take memory only as they are used"};
constexpr numeric_option spin_limits{
    "spin",
    "TEFF_SPIN_US",
    0,
    most_spin.count(),
    "a worker looks for work for",
    "us before it parks, a year at most; leave it out to have 50 us, or more where that pays"};
constexpr numeric_option spare_threads_limits{
    "spare_threads",    "TEFF_SPARE_THREADS", 1,
    most_spare_threads, "there can be",       "spare threads; leave it out to have 256"};
constexpr numeric_option trace_events_limits{
    "trace_events", "TEFF_TRACE_EVENTS", 1,
    most_events,    "a trace keeps",     "events of each worker; leave it out to have the last 262144"};

[[noreturn]] void refuse(const std::string& name, const std::string& value, const numeric_option& what) {
  throw invalid_option(name + "=" + value + ": " + what.rule + " " + std::to_string(what.least) + " to " +
                       std::to_string(what.most) + " " + what.rest);
}

// Returns the program's value if the option allows it. Throws invalid_option.
std::uint64_t allowed(std::uint64_t given, const numeric_option& what) {
  if (given < what.least || given > what.most)
    refuse("teff::runtime_options::" + std::string(what.option), std::to_string(given), what);
  return given;
}

// The variable's value; nothing if it is unset or empty. Throws invalid_option.
std::optional<std::uint64_t> from_environment(const numeric_option& what) {
  const char* const text = std::getenv(what.variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view digits = text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc{} && end == digits.data() + digits.size();
  if (!is_number || value < what.least || value > what.most) refuse(what.variable, text, what);
  return value;
}

// The program's value; if that is 0, the environment's; if that is unset, too, `otherwise`.
std::uint64_t chosen(std::uint64_t given, const numeric_option& what, std::uint64_t otherwise) {
  return given != 0 ? allowed(given, what) : from_environment(what).value_or(otherwise);
}

// Whether an MPI has started this process beside other ranks on the same cores. The first workers of all
// ranks would keep to the same core.
bool shares_cores_with_ranks() {
  cpu_set_t mask;
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  if (sched_getaffinity(getpid(), sizeof mask, &mask) != 0) return false;
  for (const char* const variable : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {  // Open MPI, MPICH
    const char* const text = std::getenv(variable);
    const long ranks = text == nullptr ? 1 : std::atol(text);
    if (ranks > 1 && ranks * CPU_COUNT(&mask) > all) return true;
  }
  return false;
}

}  // namespace

runtime_options complete(runtime_options given, unsigned usable_cores) {
  // The cores may be more than most_workers.
  given.workers =
      static_cast<unsigned>(chosen(given.workers, workers_limits, std::min(usable_cores, most_workers)));
  const auto binds = from_environment(bind_limits);
  if (binds ? *binds == 0 : shares_cores_with_ranks()) given.bind = false;
  given.stack_size = chosen(given.stack_size, stack_size_limits, default_stack);
  given.stack_size = (given.stack_size + page - 1) / page * page;
  const auto microseconds = given.spin.count() < 0
                                ? from_environment(spin_limits).value_or(default_spin.count())
                                : allowed(static_cast<std::uint64_t>(given.spin.count()), spin_limits);
  given.spin = std::chrono::microseconds(microseconds);
  given.spare_threads =
      static_cast<unsigned>(chosen(given.spare_threads, spare_threads_limits, default_spare_threads));
  if (const char* const file = std::getenv("TEFF_TRACE"); file != nullptr && given.trace.empty()) {
    given.trace = file;
  }
  given.trace_events = chosen(given.trace_events, trace_events_limits, default_events);
  return given;
}

bool says_how_long_to_spin(const runtime_options& given) {
  return given.spin.count() >= 0 || from_environment(spin_limits).has_value();
}

}  // namespace teff::detail
