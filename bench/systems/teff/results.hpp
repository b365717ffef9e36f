#pragma once

#include <teff/replay.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// A graph's outputs of the last two timesteps, each with its task's flag behind it. A small output crosses
/// to another worker in the cache line that the worker waits for anyway.
class results {
 public:
  explicit results(const task_graph& graph)
      : width_(static_cast<std::size_t>(graph.width)),
        bytes_(static_cast<std::size_t>(graph.output_bytes)),
        flag_at_(rounded_up(bytes_, alignof(teff::result_flag))),
        stride_(rounded_up(flag_at_ + sizeof(teff::result_flag), line)),
        memory_(new(std::align_val_t(line)) std::byte[2 * width_ * stride_]) {
    for (std::size_t i = 0; i < 2 * width_; ++i)
      new (memory_.get() + i * stride_ + flag_at_) teff::result_flag;
  }

  [[nodiscard]] std::span<std::byte> output(std::int64_t timestep, std::int64_t point) const {
    return {row(timestep, point), bytes_};
  }
  [[nodiscard]] teff::result_flag* flag(std::int64_t timestep, std::int64_t point) const {
    return std::launder(reinterpret_cast<teff::result_flag*>(row(timestep, point) + flag_at_));
  }

 private:
  static constexpr std::size_t line = 128;
  struct release {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(line)); }
  };
  static constexpr std::size_t rounded_up(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
  }
  [[nodiscard]] std::byte* row(std::int64_t timestep, std::int64_t point) const {
    const auto index = static_cast<std::size_t>(timestep & 1) * width_ + static_cast<std::size_t>(point);
    return memory_.get() + index * stride_;
  }

  std::size_t width_;
  std::size_t bytes_;
  std::size_t flag_at_;  ///< in a row
  std::size_t stride_;   ///< of rows
  std::unique_ptr<std::byte[], release> memory_;
};

}  // namespace teff::graphs
