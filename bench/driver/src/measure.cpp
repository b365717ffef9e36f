#include "teff/bench/measure.hpp"

namespace teff::bench {

measurement measure(const std::function<void(region_meter&)>& run) {
  measurement measured{.started_at = time_now()};
  region_meter region;
  const double gap_before = measure_gap_share();
  run(region);
  measured.elapsed_seconds = region.elapsed().count();
  measured.seen = region.seen();
  measured.seen.gap_share_before = gap_before;
  measured.seen.gap_share_after = measure_gap_share();
  return measured;
}

}  // namespace teff::bench
