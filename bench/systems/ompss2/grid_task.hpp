#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nodes_session.hpp"
#include "teff/graphs/kept_outputs.hpp"

/// Timesteps whose outputs are kept: a task that overwrites one waits for its readers. Tried in vain: 4 and
/// 8, at which the readers are done by then.
inline constexpr std::int64_t kept = 2;

/// #pragma oss task in({*inputs[i], i = 0; count}) out(*output)
class grid_task {
 public:
  grid_task(teff::graphs::workload& work, teff::graphs::kept_outputs& outputs, std::size_t graph,
            std::int64_t timestep, std::int64_t point)
      : work_(&work), outputs_(&outputs), graph_(graph), timestep_(timestep), point_(point) {}

  void operator()() const { execute(*work_, *outputs_, graph_, timestep_, point_, this_worker()); }

  [[nodiscard]] std::size_t accesses() const { return inputs().size() + 1; }
  void register_accesses(void* handler) const {
    for (const teff::graphs::input& each : inputs())
      nanos6_register_read_depinfo(handler, const_cast<std::byte*>(each.data()), each.size(), 0);
    const auto output = outputs_->at(timestep_, point_);
    nanos6_register_write_depinfo(handler, output.data(), output.size(), 1);
  }

 protected:
  void advance(std::int64_t timesteps) { timestep_ += timesteps; }

 private:
  [[nodiscard]] std::span<const teff::graphs::input> inputs() const {
    thread_local std::vector<teff::graphs::input> scratch;
    return outputs_->inputs(timestep_, point_, scratch);
  }

  teff::graphs::workload* work_;
  teff::graphs::kept_outputs* outputs_;
  std::size_t graph_;
  std::int64_t timestep_;
  std::int64_t point_;
};
