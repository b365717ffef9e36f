#include "teff/bench/noise.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace teff::bench {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto gap_spin = 500us;

noise usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return {
      seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_nvcsw, usage.ru_nivcsw, 0, 0, std::nullopt};
}

}  // namespace

noise& noise::operator+=(const noise& other) {
  cpu_seconds += other.cpu_seconds;
  voluntary_switches += other.voluntary_switches;
  involuntary_switches += other.involuntary_switches;
  gap_share_before = std::max(gap_share_before, other.gap_share_before);
  gap_share_after = std::max(gap_share_after, other.gap_share_after);
  if (!round_trip_seconds) round_trip_seconds = other.round_trip_seconds;
  return *this;
}

double measure_gap_share() {
  clock::duration lost{};
  const auto begin = clock::now();
  auto before = begin;
  while (before - begin < gap_spin) {
    const auto now = clock::now();
    if (now - before > 1us) lost += now - before;
    before = now;
  }
  return std::chrono::duration<double>(lost) / std::chrono::duration<double>(before - begin);
}

void region_meter::start() {
  seen_ = usage_now();
  start_ = clock::now();
}

void region_meter::stop() {
  elapsed_ = clock::now() - start_;
  noise now = usage_now();
  now.cpu_seconds -= seen_.cpu_seconds;
  now.voluntary_switches -= seen_.voluntary_switches;
  now.involuntary_switches -= seen_.involuntary_switches;
  seen_ = now;
}

}  // namespace teff::bench
