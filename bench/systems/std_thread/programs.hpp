// Programs on std::thread: a loop starts a thread for each part of it, and joins them. The standard library
// has no tasks of less than a thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "teff/bench/identity.hpp"
#include "teff/bench/pinned_threads.hpp"
#include "teff/programs/ways.hpp"

namespace {

class program_system {
 public:
  explicit program_system(int workers) : threads_(teff::bench::count_pinned_threads(workers)) {
    teff::bench::bind_to_core(0);
  }

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "std_thread",
            .variant = "program",
            .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE),
            .workers = threads_};
  }

  static void run_loops(auto body) { body(); }

  /// Without a grain each thread has an equal part; else they fetch blocks.
  template <class Body>
  void parallel_for(std::int64_t first, std::int64_t last, std::int64_t grain, const Body& body) const {
    std::atomic<std::int64_t> next = first;
    on_all_threads([&](std::int64_t thread) {
      if (grain == 0) return run_part(first, last, thread, body);
      for (;;) {
        const std::int64_t from =
            next.fetch_add(grain, std::memory_order_relaxed);  // orders nothing: join does
        if (from >= last) return;
        for (std::int64_t i = from; i < std::min(from + grain, last); ++i) body(i);
      }
    });
  }

  template <class T, class Body>
  [[nodiscard]] T sum(std::int64_t first, std::int64_t last, const Body& body) const {
    std::vector<T> parts(static_cast<std::size_t>(threads_));
    on_all_threads([&](std::int64_t thread) {
      T total{};
      run_part(first, last, thread, [&](std::int64_t i) { total += body(i); });
      parts[static_cast<std::size_t>(thread)] = total;
    });
    return std::accumulate(parts.begin(), parts.end(), T{});
  }

 private:
  /// The calling thread is the first.
  template <class Part>
  void on_all_threads(const Part& part) const {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads_; ++thread)
      others.emplace_back([&part, thread] {
        teff::bench::bind_to_core(thread);
        part(thread);
      });
    part(0);
  }

  template <class Body>
  void run_part(std::int64_t first, std::int64_t last, std::int64_t thread, const Body& body) const {
    const std::int64_t count = last - first;
    const std::int64_t end = first + count * (thread + 1) / threads_;
    for (std::int64_t i = first + count * thread / threads_; i < end; ++i) body(i);
  }

  int threads_;
};

}  // namespace
