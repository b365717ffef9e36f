#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace teff::graphs::kernels {

inline constexpr std::int64_t smallest_window = 2 * sizeof(double);

/// The scratch cut into windows of two equal halves of whole doubles. If the pairs of doubles can't be shared
/// out evenly, the first windows are a pair larger. So the windows use all of the scratch but the last bytes
/// that make no pair.
class windows {
 public:
  struct halves {
    double* first;
    double* second;
    std::size_t count;  ///< doubles in each half
  };

  windows(std::span<std::byte> scratch, std::int64_t samples)
      : start_(reinterpret_cast<double*>(scratch.data())),
        pairs_(static_cast<std::int64_t>(scratch.size()) / smallest_window / samples),
        larger_(static_cast<std::int64_t>(scratch.size()) / smallest_window % samples) {}

  [[nodiscard]] halves operator[](std::int64_t index) const {
    const std::int64_t count = pairs_ + (index < larger_ ? 1 : 0);
    double* first = start_ + 2 * (index * pairs_ + std::min(index, larger_));
    return {first, first + count, static_cast<std::size_t>(count)};
  }

 private:
  double* start_;
  std::int64_t pairs_;   // in a window
  std::int64_t larger_;  // windows with one pair more
};

/// Calls function(sample) for each iteration of a task. Iteration k of timestep t takes the sample
/// (t * iterations + k) mod samples, so that tasks go through all of them, however few their iterations.
template <class Function>
void for_each_sample(std::int64_t samples, std::int64_t iterations, std::int64_t timestep,
                     const Function& function) {
  std::int64_t sample = (timestep % samples) * (iterations % samples) % samples;
  for (; iterations > 0; --iterations) {
    function(sample);
    if (++sample == samples) sample = 0;
  }
}

}  // namespace teff::graphs::kernels
