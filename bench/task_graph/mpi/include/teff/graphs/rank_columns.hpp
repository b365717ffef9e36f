#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "teff/graphs/task_rows.hpp"
#include "teff/graphs/workload.hpp"

namespace teff::graphs {

/// Which columns of a graph belong to which rank: contiguous blocks. A rank has workers / ranks workers (give
/// or take one), and columns in proportion to them.
class partition {
 public:
  partition(std::int64_t width, int workers, int ranks);

  [[nodiscard]] interval columns_of(int rank) const;
  [[nodiscard]] int owner(std::int64_t point) const;

 private:
  std::vector<std::int64_t> first_;  ///< of each rank; the width at the end
};

/// The output of one point on its way between this rank and another: one message, however many of the tasks
/// there read it.
struct crossing {
  std::int64_t point;
  interval consumers;  ///< from the first to the last point on the receiving rank that reads it
  int peer;            ///< where it goes to, or comes from
  int tag;             ///< the point's place among its owner's columns: unique between two ranks in a graph
};

/// The part of a graph on one rank: the outputs of its columns and of the columns that it reads from other
/// ranks, and the crossings. It keeps two timesteps: the outputs of t overwrite the outputs of t - 2. Both
/// ends of a crossing work it out alike, from the graph alone.
class rank_columns {
 public:
  rank_columns(const dependence_table& table, const partition& blocks, int rank);

  [[nodiscard]] const dependence_table& table() const { return *table_; }
  [[nodiscard]] interval own() const { return own_; }

  /// The number of columns kept, and a kept point's place among them: this rank's own come first.
  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] std::size_t slot(std::int64_t point) const { return slot_[static_cast<std::size_t>(point)]; }

  /// A message for each column of another rank that is kept here, by slot: the source and the tag of its
  /// outputs, for every timestep. (Its consumers are the consumers in one dependence set.)
  [[nodiscard]] std::span<const crossing> remote() const { return remote_; }

  /// Of an own point, or of one that another rank sends.
  [[nodiscard]] std::span<std::byte> output(std::int64_t timestep, std::int64_t point) const {
    return {memory_.get() + (static_cast<std::size_t>(timestep & 1) * slots_ + slot(point)) * bytes_, bytes_};
  }

  /// Of an own task, in the order of its dependences. `scratch` may be written to.
  [[nodiscard]] std::span<const input> inputs(std::int64_t timestep, std::int64_t point,
                                              std::vector<input>& scratch) const {
    return inputs_->at(timestep, point, scratch, std::bind_front(&rank_columns::collect, this));
  }

  /// This rank's points of a timestep: first those whose outputs others wait for.
  template <class Function>
  void for_each_point(std::int64_t timestep, Function function) const {
    const interval present = table_->points(timestep);
    for (const std::int64_t point : plan_of(timestep).order)
      if (present.contains(point)) function(point);
  }

  /// The messages that carry the output of the own task (timestep, point) away.
  template <class Function>
  void for_each_send(std::int64_t timestep, std::int64_t point, Function function) const {
    const plan& crossings = plan_of(timestep);
    const auto at = static_cast<std::size_t>(point - own_.first);
    const interval readers = table_->points(timestep + 1);
    for (std::size_t i = crossings.first_send[at]; i < crossings.first_send[at + 1]; ++i)
      if (crosses(crossings.sends[i], readers)) function(crossings.sends[i]);
  }

  /// The messages that bring the outputs of a timestep that this rank's tasks of the next one read.
  template <class Function>
  void for_each_receive(std::int64_t timestep, Function function) const {
    const interval writers = table_->points(timestep);
    const interval readers = table_->points(timestep + 1);
    for (const crossing& each : plan_of(timestep).receives)
      if (writers.contains(each.point) && crosses(each, readers)) function(each);
  }

  /// The most messages that leave, that come, in any timestep.
  [[nodiscard]] std::size_t max_sends() const { return max_sends_; }
  [[nodiscard]] std::size_t max_receives() const { return max_receives_; }

 private:
  /// The crossings when the reading timestep has a certain dependence set.
  struct plan {
    std::vector<crossing> sends;          ///< by point
    std::vector<std::size_t> first_send;  ///< of each own point; their number at the end
    std::vector<crossing> receives;
    std::vector<std::int64_t> order;  ///< of the own points
  };

  [[nodiscard]] static bool crosses(const crossing& each, interval readers) {
    return each.consumers.clipped_to(readers).size() > 0;
  }
  /// Of the outputs of `timestep`, by the dependence set of the timestep that reads them.
  [[nodiscard]] const plan& plan_of(std::int64_t timestep) const {
    if (plans_.size() == 1) return plans_.front();
    return plans_[static_cast<std::size_t>(table_->graph().dependence_set(timestep + 1))];
  }
  void collect(std::int64_t timestep, std::int64_t point, std::vector<input>& inputs) const {
    inputs.clear();
    for (const std::int64_t each : table_->inputs(timestep, point))
      inputs.emplace_back(output(timestep - 1, each));
  }
  void add_sends(plan& to, std::int64_t set, const partition& blocks);
  void add_receives(plan& to, std::int64_t set, const partition& blocks);

  const dependence_table* table_;
  interval own_;
  std::size_t bytes_;
  std::vector<plan> plans_;
  std::vector<std::uint32_t> slot_;
  std::size_t slots_ = 0;
  std::vector<crossing> remote_;
  std::size_t max_sends_ = 0;
  std::size_t max_receives_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  std::optional<task_rows<std::vector<input>>> inputs_;
};

/// The most messages that leave and come at once, of all graphs together.
[[nodiscard]] std::size_t most_messages(std::span<const rank_columns> graphs);

}  // namespace teff::graphs
