#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "teff/bench/task_order.hpp"
#include "teff/bench/workload.hpp"

namespace teff::bench {

/// A graph's outputs of the last two timesteps, of each point on cache lines of its own, and which worker has
/// which points.
class columns {
 public:
  columns(const workload& work, std::size_t index, int workers)
      : order(work.table(index)),
        table_(work.table(index)),
        bytes_(static_cast<std::size_t>(work.graph(index).output_bytes)),
        stride_((bytes_ + line - 1) / line * line),
        memory_(new(std::align_val_t(line)) std::byte[2 * stride_ * width()]) {
    for (int worker = 0; worker < workers; ++worker)
      owners_.resize(static_cast<std::size_t>((worker + 1) * work.graph(index).width / workers),
                     static_cast<unsigned>(worker));
  }

  [[nodiscard]] std::span<std::byte> output(std::int64_t timestep, std::int64_t point) const {
    const auto row = static_cast<std::size_t>(timestep & 1) * width() + static_cast<std::size_t>(point);
    return {memory_.get() + row * stride_, bytes_};
  }
  void collect(std::int64_t timestep, std::int64_t point, std::vector<input>& inputs) const {
    inputs.clear();
    for (const std::int64_t each : table_.inputs(timestep, point))
      inputs.emplace_back(output(timestep - 1, each));
  }
  [[nodiscard]] unsigned owner(std::int64_t point) const { return owners_[static_cast<std::size_t>(point)]; }

  const task_order order;

 private:
  static constexpr std::size_t line = 128;
  struct release {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(line)); }
  };
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(table_.graph().width); }

  const dependence_table& table_;
  std::size_t bytes_;
  std::size_t stride_;
  std::unique_ptr<std::byte[], release> memory_;
  std::vector<unsigned> owners_;
};

}  // namespace teff::bench
