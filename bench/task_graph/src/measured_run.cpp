#include "measured_run.hpp"

#include "teff/bench/record.hpp"

namespace teff::graphs {

measured_run::measured_run(configuration work, int workers)
    : started_at_(bench::time_now()),
      load_(std::move(work), workers),
      gap_share_before_(bench::measure_gap_share()) {}

outcome measured_run::finish(std::string error) const {
  outcome mine{load_.done(), load_.region().seen(), load_.region().elapsed().count(), std::move(error)};
  if (load_.simulated()) {  // whose time this machine can't disturb
    mine.elapsed_seconds = load_.simulated()->seconds;
  } else {
    mine.seen.gap_share_before = gap_share_before_;
    mine.seen.gap_share_after = bench::measure_gap_share();
  }
  mine.seen.round_trip_seconds = load_.round_trip();
  if (mine.error.empty()) mine.error = load_.error();
  return mine;
}

}  // namespace teff::graphs
