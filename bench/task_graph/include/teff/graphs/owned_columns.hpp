#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "teff/graphs/task_order.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// For systems in which a worker owns a block of a graph's columns: which worker has which points, and which
/// task waits for which.
class owned_columns {
 public:
  /// The tasks that wait for a task: points at the next timestep, the points of one worker side by side.
  struct successors {
    struct group {
      unsigned worker;
      std::uint32_t first;
      std::uint32_t count;
    };
    std::vector<std::int32_t> points;
    std::vector<group> groups;  // the other workers' groups first: they wait for a message

    [[nodiscard]] std::span<const std::int32_t> of(const group& one) const {
      return {points.data() + one.first, one.count};
    }
    /// The successors on a worker that has at least one.
    [[nodiscard]] std::span<const std::int32_t> on(unsigned worker) const {
      return of(*std::ranges::find(groups, worker, &group::worker));
    }
  };

  /// `inputs_only`: a task waits for its inputs and nothing else. Otherwise it waits as task_order says, so
  /// that keeping the outputs of two timesteps is enough.
  owned_columns(const workload& work, std::size_t index, int workers, bool inputs_only)
      : table_(work.table(index)), order_(table_), inputs_only_(inputs_only) {
    for (int worker = 0; worker < workers; ++worker)
      owners_.resize(static_cast<std::size_t>(worker + 1) * width_ / static_cast<std::size_t>(workers),
                     static_cast<unsigned>(worker));
    if (!table_.graph().pattern->varying_width) list_all();
  }

  [[nodiscard]] unsigned owner(std::int64_t point) const { return owners_[static_cast<std::size_t>(point)]; }
  [[nodiscard]] std::int64_t predecessors(std::int64_t timestep, std::int64_t point) const {
    if (timestep == 0) return 0;
    if (predecessors_.empty()) return order_.predecessors(timestep, point);
    return predecessors_[layer(timestep - 1) + static_cast<std::size_t>(point)];
  }
  /// `scratch` may be written to.
  [[nodiscard]] const successors& after(std::int64_t timestep, std::int64_t point,
                                        successors& scratch) const {
    if (timestep + 1 == table_.graph().steps) return none_;
    if (!successors_.empty()) return successors_[layer(timestep) + static_cast<std::size_t>(point)];
    list_successors(timestep, point, scratch);
    return scratch;
  }

 private:
  /// The index of the lists for a timestep and the next one.
  [[nodiscard]] std::size_t layer(std::int64_t timestep) const {
    if (sets_ == 1) return 0;
    return (static_cast<std::size_t>(table_.set_at(timestep)) * sets_ +
            static_cast<std::size_t>(table_.set_at(timestep + 1))) *
           width_;
  }
  void list_successors(std::int64_t timestep, std::int64_t point, successors& all) const {
    all.points.clear();
    all.groups.clear();
    const auto add = [&](std::int64_t each) { all.points.push_back(static_cast<std::int32_t>(each)); };
    if (inputs_only_) {
      for (const std::int64_t each : table_.consumers(timestep, point)) add(each);
    } else {
      order_.for_each_successor(timestep, point, add);
    }
    std::ranges::sort(all.points);
    for (std::uint32_t i = 0; i < all.points.size(); ++i) {
      const unsigned worker = owner(all.points[i]);
      if (all.groups.empty() || all.groups.back().worker != worker) all.groups.push_back({worker, i, 0});
      ++all.groups.back().count;
    }
    const auto own = std::ranges::find(all.groups, owner(point), &successors::group::worker);
    if (own != all.groups.end()) std::rotate(own, own + 1, all.groups.end());
  }
  /// Computes once for all the lists that do not depend on the timestep.
  void list_all() {
    successors_.resize(sets_ * sets_ * width_);
    predecessors_.resize(successors_.size());
    std::vector<bool> listed(sets_ * sets_);
    // Where the width is steady, as many timesteps as there are sets have each set once.
    for (std::int64_t t = 0; std::cmp_less_equal(t, sets_) && t + 1 < table_.graph().steps; ++t) {
      const std::size_t here = layer(t);
      if (listed[here / width_]) continue;
      listed[here / width_] = true;
      for (std::size_t i = 0; i < width_; ++i) {
        list_successors(t, static_cast<std::int64_t>(i), successors_[here + i]);
        for (const std::int32_t each : successors_[here + i].points)
          ++predecessors_[here + static_cast<std::size_t>(each)];
      }
    }
  }

  const dependence_table& table_;
  task_order order_;
  bool inputs_only_;
  std::size_t sets_ = static_cast<std::size_t>(table_.graph().dependence_sets());
  std::size_t width_ = static_cast<std::size_t>(table_.graph().width);
  std::vector<unsigned> owners_;
  const successors none_;
  std::vector<successors> successors_;      ///< by layer(timestep) and point
  std::vector<std::int32_t> predecessors_;  ///< by layer(timestep - 1) and point
};

}  // namespace teff::graphs
