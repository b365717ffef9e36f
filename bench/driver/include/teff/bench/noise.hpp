#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace teff::bench {

/// How much of the machine a timed region did not get. On a virtual machine the steal time tells nothing
/// about that; gaps in a spin loop do.
struct noise {
  double cpu_seconds = 0;  ///< CPU time of the process in the region
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;
  double gap_share_before = 0;  ///< part of a spin just before the region that was lost in gaps over 1 us
  double gap_share_after = 0;   ///< the same just after it
  /// How far apart the cores were (round_trip.hpp); only the program of the ceiling measures it.
  std::optional<double> round_trip_seconds;

  /// Adds another rank's noise: times and counts add up, of the gaps the worst counts.
  noise& operator+=(const noise& other);
};

/// A timed region with the CPU time and the context switches in it.
class region_meter {
 public:
  void start();
  void stop();
  [[nodiscard]] std::chrono::duration<double> elapsed() const { return elapsed_; }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return start_; }
  [[nodiscard]] const noise& seen() const { return seen_; }

 private:
  std::chrono::steady_clock::time_point start_{};
  std::chrono::duration<double> elapsed_{};
  noise seen_;
};

/// Spins on the clock for half a millisecond and returns the part of it that was lost in gaps over one
/// microsecond.
[[nodiscard]] double measure_gap_share();

}  // namespace teff::bench
