#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "teff/apps/ways.hpp"

namespace teff::apps {

/// Runs kernels over index ranges as the loops of a way whose steps have run when run() returns.
class kernel_loops {
 public:
  explicit kernel_loops(way& by) : by_(by) {}

  /// Runs kernel(begin, end) for parts of [0, count).
  template <class Kernel>
  void each(std::int64_t count, const Kernel& kernel) {
    by_.run({.name = {}, .count = count, .accesses = {}, .body = [&kernel](range some) {
               kernel(some.begin, some.end);
             }});
  }
  /// The same, and adds up the results for each index, in order: the sum has the same bits however the loop
  /// is divided.
  template <class Kernel>
  double sum(std::int64_t count, const Kernel& kernel) {
    terms_.resize(static_cast<std::size_t>(count));
    each(count, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) terms_[static_cast<std::size_t>(i)] = kernel(i, i + 1);
    });
    double sum = 0;
    for (const double term : terms_) sum += term;
    return sum;
  }

 private:
  way& by_;
  std::vector<double> terms_;
};

}  // namespace teff::apps
