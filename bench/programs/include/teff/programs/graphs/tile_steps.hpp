#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace teff::programs {

/// Step k of tile (i, j) of a square of tiles.
struct tile_step {
  std::int32_t k;
  std::int32_t i;
  std::int32_t j;
};

/// The steps of a decomposition by tiles, each a task whose number is its place in their order.
class tile_steps {
 public:
  tile_steps(std::int64_t rows, std::vector<tile_step> in_order)
      : rows_(rows), steps_(std::move(in_order)), numbers_(static_cast<std::size_t>(rows * rows * rows)) {
    for (std::size_t number = 0; number < steps_.size(); ++number) {
      const auto [k, i, j] = steps_[number];
      numbers_[place(k, i, j)] = static_cast<std::int32_t>(number);
    }
  }

  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(steps_.size()); }
  [[nodiscard]] tile_step operator[](std::int64_t number) const {
    return steps_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] std::int64_t number(std::int64_t k, std::int64_t i, std::int64_t j) const {
    return numbers_[place(k, i, j)];
  }

 private:
  [[nodiscard]] std::size_t place(std::int64_t k, std::int64_t i, std::int64_t j) const {
    return static_cast<std::size_t>((k * rows_ + i) * rows_ + j);
  }

  std::int64_t rows_;  ///< of tiles
  std::vector<tile_step> steps_;
  std::vector<std::int32_t> numbers_;
};

}  // namespace teff::programs
