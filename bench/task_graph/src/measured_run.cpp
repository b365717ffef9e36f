#include "measured_run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

namespace teff::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto gap_spin = 500us;

std::string time_now() {
  const auto now = std::chrono::system_clock::now();
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(now)),
                     milliseconds);
}

}  // namespace

measured_run::measured_run(configuration work, int workers)
    : started_at_(time_now()),
      load_(std::move(work), workers),
      gap_share_before_(measure_gap_share(gap_spin)) {}

outcome measured_run::finish(std::string error) const {
  outcome mine{load_.done(), load_.region().seen(), load_.region().elapsed().count(), std::move(error)};
  mine.seen.gap_share_before = gap_share_before_;
  mine.seen.gap_share_after = measure_gap_share(gap_spin);
  mine.seen.round_trip_seconds = load_.round_trip();
  if (mine.error.empty()) mine.error = load_.error();
  return mine;
}

}  // namespace teff::bench
