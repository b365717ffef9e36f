#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace teff::apps {

/// Runs a kernel for [0, count) at once.
struct in_order {
  template <class Kernel>
  void each(std::int64_t count, Kernel&& kernel) {
    kernel(std::int64_t{0}, count);
  }
  template <class Kernel>
  double sum(std::int64_t count, Kernel&& kernel) {
    return kernel(std::int64_t{0}, count);
  }
};

/// Runs a kernel for chunks of [0, count), each on the thread that is free first.
struct in_chunks {
  std::int64_t chunk = 1;
  int threads = 3;

  template <class Kernel>
  void each(std::int64_t count, Kernel&& kernel) {
    std::atomic<std::int64_t> next{0};
    const auto run = [&] {
      for (std::int64_t begin = 0; (begin = next.fetch_add(chunk)) < count;)
        kernel(begin, std::min(begin + chunk, count));
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < threads && i * chunk < count; ++i) others.emplace_back(run);
    run();
  }
  template <class Kernel>
  double sum(std::int64_t count, Kernel&& kernel) {
    std::vector<double> parts(static_cast<std::size_t>((count + chunk - 1) / chunk));
    each(count, [&](std::int64_t begin, std::int64_t end) {
      parts[static_cast<std::size_t>(begin / chunk)] = kernel(begin, end);
    });
    double sum = 0;
    for (const double part : parts) sum += part;
    return sum;
  }
};

}  // namespace teff::apps
