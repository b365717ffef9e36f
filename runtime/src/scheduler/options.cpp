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
constexpr std::chrono::microseconds most_spin = std::chrono::hours(24) * 365;  // added to a time, no overflow
constexpr unsigned default_spare_threads = 256;
constexpr unsigned most_spare_threads = 16384;
constexpr std::size_t default_events = std::size_t{1} << 18;
constexpr std::size_t most_events = std::size_t{1} << 28;  // 8 GiB a worker

// A variable's value as a whole number; nothing if it is unset or empty. Throws invalid_option.
std::optional<std::uint64_t> number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string_view digits = text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    throw invalid_option(std::string(variable) + "=" + text + ": a whole number is expected");
  }
  return value;
}

// `asked` as a number of `what`, at least one. Throws invalid_option.
unsigned counted(std::uint64_t asked, unsigned most, const char* what) {
  if (asked == 0 || asked > most) {
    throw invalid_option("teff::options: the number of " + std::string(what) + " must lie in 1.." +
                         std::to_string(most) + ": " + std::to_string(asked) + " was asked for");
  }
  return static_cast<unsigned>(asked);
}

// Whether this process is one of several ranks of a node that an MPI has started and not bound to cores of
// their own: then each would bind its first worker to the same one.
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

options complete(options given, unsigned usable_cores) {
  const std::uint64_t workers =
      given.workers != 0 ? given.workers : number_from("TEFF_WORKERS").value_or(usable_cores);
  given.workers = counted(workers, most_workers, "workers");
  const auto bind = number_from("TEFF_BIND");
  if (bind ? *bind == 0 : shares_cores_with_ranks()) given.bind = false;
  if (given.stack_size == 0) given.stack_size = number_from("TEFF_STACK_SIZE").value_or(default_stack);
  if (given.stack_size < least_stack) {
    throw invalid_option("a worker's stack must have at least " + std::to_string(least_stack) + " bytes");
  }
  if (given.stack_size > most_stack) {
    throw invalid_option("a worker's stack can have at most " + std::to_string(most_stack) + " bytes");
  }
  given.stack_size = (given.stack_size + page - 1) / page * page;
  if (given.spin.count() < 0) {
    const auto wanted = number_from("TEFF_SPIN_US").value_or(default_spin.count());
    if (wanted > static_cast<std::uint64_t>(most_spin.count())) {
      throw invalid_option("TEFF_SPIN_US=" + std::to_string(wanted) + ": at most " +
                           std::to_string(most_spin.count()) + " us, a year");
    }
    given.spin = std::chrono::microseconds(wanted);
  }
  given.spin = std::min(given.spin, most_spin);
  const std::uint64_t spare_threads = given.spare_threads != 0
                                          ? given.spare_threads
                                          : number_from("TEFF_SPARE_THREADS").value_or(default_spare_threads);
  given.spare_threads = counted(spare_threads, most_spare_threads, "spare threads");
  if (const char* const file = std::getenv("TEFF_TRACE"); file != nullptr && given.trace.empty()) {
    given.trace = file;
  }
  if (given.trace_events == 0) given.trace_events = number_from("TEFF_TRACE_EVENTS").value_or(default_events);
  if (given.trace_events == 0) throw invalid_option("a trace must have room for at least one event a worker");
  if (given.trace_events > most_events) {
    throw invalid_option("a trace can have room for at most " + std::to_string(most_events) +
                         " events a worker");
  }
  return given;
}

bool says_how_long_to_spin(const options& given) {
  return given.spin.count() >= 0 || number_from("TEFF_SPIN_US").has_value();
}

}  // namespace teff::detail
