#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <vector>

#include "teff/graphs/kept_timesteps.hpp"
#include "teff/graphs/owned_columns.hpp"
#include "teff/graphs/task_rows.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// A graph's outputs of the last timesteps. All workers share them, each output on separate cache lines. Or
/// they travel: each worker has copies of the outputs that its tasks read. The copies span so many timesteps
/// that tasks need wait for their inputs only, if such a number exists.
class outputs {
 public:
  static constexpr std::size_t most_travelling = 16;  ///< bytes

  [[nodiscard]] static bool may_travel(const task_graph& graph) {
    return static_cast<std::size_t>(graph.output_bytes) <= most_travelling;
  }
  /// As kept_timesteps().
  [[nodiscard]] static std::optional<std::int64_t> kept(const workload& work, std::size_t index,
                                                        bool travel) {
    return kept_timesteps(work.table(index), travel ? most_kept : 2);
  }

  outputs(const workload& work, std::size_t index, const owned_columns& owned, bool travel)
      : table_(work.table(index)),
        owned_(owned),
        bytes_(static_cast<std::size_t>(table_.graph().output_bytes)),
        travel_(travel),
        kept_(static_cast<std::size_t>(kept(work, index, travel).value_or(2))),
        stride_(travel ? most_travelling : (bytes_ + line - 1) / line * line) {
    for (int worker = 0; worker < (travel ? work.workers() : 1); ++worker)
      copies_.emplace_back(new (std::align_val_t(line)) std::byte[kept_ * stride_ * width_]);
    inputs_.emplace(table_, interval{0, static_cast<std::int64_t>(width_) - 1},
                    static_cast<std::int64_t>(kept_), std::bind_front(&outputs::collect, this));
  }

  [[nodiscard]] bool travel() const { return travel_; }
  /// Where `worker` has it, or will have it. Where they travel there is room for `most_travelling` bytes.
  [[nodiscard]] std::span<std::byte> at(std::int64_t timestep, std::int64_t point, unsigned worker) const {
    const auto row = row_of(timestep) * width_ + static_cast<std::size_t>(point);
    return {copies_[travel_ ? worker : 0].get() + row * stride_, bytes_};
  }
  /// `scratch` may be written to.
  [[nodiscard]] std::span<const input> inputs(std::int64_t timestep, std::int64_t point,
                                              std::vector<input>& scratch) const {
    return inputs_->at(timestep, point, scratch, std::bind_front(&outputs::collect, this));
  }

 private:
  static constexpr std::size_t line = 128;
  static constexpr std::int64_t most_kept = 8;
  struct release {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(line)); }
  };

  [[nodiscard]] std::size_t row_of(std::int64_t timestep) const {
    return static_cast<std::size_t>(timestep) & (kept_ - 1);
  }
  void collect(std::int64_t timestep, std::int64_t point, std::vector<input>& all) const {
    all.clear();
    for (const std::int64_t each : table_.inputs(timestep, point))
      all.emplace_back(at(timestep - 1, each, owned_.owner(point)));
  }

  const dependence_table& table_;
  const owned_columns& owned_;
  std::size_t width_ = static_cast<std::size_t>(table_.graph().width);
  std::size_t bytes_;
  bool travel_;
  std::size_t kept_;  ///< timesteps, a power of two
  std::size_t stride_;
  std::vector<std::unique_ptr<std::byte[], release>> copies_;  ///< by worker, or one
  std::optional<task_rows<std::vector<input>>> inputs_;
};

}  // namespace teff::graphs
