#pragma once

#include <algorithm>
#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/cells.hpp"

namespace teff::programs {

/// Requests that do next to nothing: the main thread makes one and waits for its value, then the next.
class small_requests {
 public:
  static constexpr description about{.name = "small_requests",
                                     .title = "requests from main, one by one",
                                     .needs = way::requests,
                                     .unit = "requests",
                                     .sizes = {20, 5000, 50'000},
                                     .most = 100'000'000};

  explicit small_requests(std::int64_t requests) : requests_(requests) {}

  template <class System>
  void run(System& system) {
    value_ = 0;
    for (std::int64_t i = 0; i < requests_; ++i)
      value_ =
          system.request([i, before = value_] { return next_cell(before, static_cast<std::uint64_t>(i)); });
  }
  [[nodiscard]] std::uint64_t checksum() const { return value_; }

 private:
  std::int64_t requests_;
  std::uint64_t value_ = 0;
};

/// The same, 16 at a time.
class batches_of_requests {
 public:
  static constexpr description about{.name = "batches_of_requests",
                                     .title = "requests from main, 16 at a time",
                                     .needs = way::requests,
                                     .unit = "requests",
                                     .sizes = {40, 16'000, 160'000},
                                     .most = 100'000'000};

  explicit batches_of_requests(std::int64_t requests) : cells_(requests) {}

  void reset() {
    for (std::uint64_t& cell : cells_) cell = 0;
  }
  template <class System>
  void run(System& system) {
    for (std::int64_t first = 0; first < cells_.size(); first += at_a_time) {
      system.request_all(std::min(at_a_time, cells_.size() - first),
                         [first, cells = cells_.data()](std::int64_t i) {
                           cells[first + i] = next_cell(cells[first + i], static_cast<std::uint64_t>(i));
                         });
    }
  }
  [[nodiscard]] std::uint64_t checksum() const { return fingerprint_of(cells_); }

 private:
  static constexpr std::int64_t at_a_time = 16;
  buffer<std::uint64_t> cells_;
};

}  // namespace teff::programs
