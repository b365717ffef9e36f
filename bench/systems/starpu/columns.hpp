#pragma once

#include <starpu.h>

#include <vector>

#include "teff/graphs/task_graph.hpp"

/// The outputs of a graph's last two timesteps, known to StarPU: the output of timestep t is overwritten at t
/// + 2.
class columns {
 public:
  /// `is_here` says whether this rank holds a point; elsewhere StarPU makes room when the data comes.
  template <class IsHere>
  columns(const teff::graphs::task_graph& graph, IsHere is_here)
      : width_(graph.width),
        memory_(2 * static_cast<std::size_t>(graph.width * graph.output_bytes)),
        handles_(2 * static_cast<std::size_t>(graph.width)) {
    const auto bytes = static_cast<std::size_t>(graph.output_bytes);
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const bool here = is_here(static_cast<std::int64_t>(i) % width_);
      starpu_variable_data_register(&handles_[i], here ? STARPU_MAIN_RAM : -1,
                                    here ? reinterpret_cast<std::uintptr_t>(memory_.data() + i * bytes) : 0,
                                    bytes);
    }
  }
  columns(const columns&) = delete;
  columns& operator=(const columns&) = delete;
  ~columns() {
    for (const starpu_data_handle_t each : handles_) starpu_data_unregister(each);
  }

  [[nodiscard]] starpu_data_handle_t output(std::int64_t timestep, std::int64_t point) const {
    return handles_[static_cast<std::size_t>((timestep & 1) * width_ + point)];
  }

 private:
  std::int64_t width_;
  std::vector<std::byte> memory_;
  std::vector<starpu_data_handle_t> handles_;
};
