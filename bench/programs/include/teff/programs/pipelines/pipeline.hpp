#pragma once

#include <cstdint>

#include "teff/programs/data.hpp"
#include "teff/programs/description.hpp"
#include "teff/programs/kernels/cells.hpp"
#include "teff/programs/ways.hpp"

namespace teff::programs {

/// Four short stages: the first and the last take one item after the other, those between take several at
/// once.
class pipeline {
 public:
  static constexpr std::int64_t tokens = 16;
  static constexpr description about{.name = "pipeline",
                                     .title = "pipeline of four stages",
                                     .needs = way::pipelines,
                                     .unit = "items",
                                     .sizes = {300, 50'000, 200'000},
                                     .most = 100'000'000};

  explicit pipeline(std::int64_t items) : items_(items) {}

  void reset() {
    for (std::uint64_t& item : items_) item = 0;
    read_ = written_ = 1;
  }
  template <class System>
  void run(System& system) {
    system.run_pipeline(
        items_.size(), tokens,
        stage<order::in_turn>([this](std::int64_t item) { items_[item] = read_ = next_cell(read_, 1); }),
        stage<order::any>([this](std::int64_t item) { items_[item] = next_cell(items_[item], 2); }),
        stage<order::any>([this](std::int64_t item) { items_[item] = next_cell(items_[item], 3); }),
        stage<order::in_turn>([this](std::int64_t item) { written_ = next_cell(written_, items_[item]); }));
  }
  [[nodiscard]] std::uint64_t checksum() const { return written_; }

 private:
  buffer<std::uint64_t> items_;
  std::uint64_t read_ = 1;
  std::uint64_t written_ = 1;
};

}  // namespace teff::programs
