#pragma once

#include <legion.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "teff/graphs/workload.hpp"

/// A graph as Legion sees it: a logical region with an element a point, whose fields are the outputs of the
/// last two timesteps. A partition has the element of each point, which its task writes; a partition for each
/// set of dependences has the elements that a task reads. Legion finds out by itself which tasks wait for
/// which.
class graph_region {
 public:
  graph_region(Legion::Runtime* runtime, Legion::Context context, const teff::graphs::dependence_table& table)
      : runtime_(runtime), context_(context), table_(table) {
    const Legion::Rect<1> all(0, table.graph().width - 1);
    points_ = runtime->create_index_space(context, all);
    fields_ = runtime->create_field_space(context);
    const auto bytes = static_cast<std::size_t>(table.graph().output_bytes);
    auto fields = runtime->create_field_allocator(context, fields_);
    for (int kept = 0; kept < 2; ++kept) fields.allocate_field(bytes, field(kept));
    region_ = runtime->create_logical_region(context, points_, fields_);
    written_ = runtime->get_logical_partition(context, region_,
                                              runtime->create_equal_partition(context, points_, points_));
    for (std::int64_t set = 0; set < table.graph().dependence_sets(); ++set)
      read_.push_back(runtime->get_logical_partition(context, region_, partition_by(set)));
    const std::vector<std::byte> nothing(bytes);
    for (int kept = 0; kept < 2; ++kept)
      runtime->fill_field(context, region_, region_, field(kept), nothing.data(), bytes);
  }
  ~graph_region() {
    runtime_->destroy_logical_region(context_, region_);
    runtime_->destroy_field_space(context_, fields_);
    runtime_->destroy_index_space(context_, points_);
  }
  graph_region(const graph_region&) = delete;
  graph_region& operator=(const graph_region&) = delete;

  [[nodiscard]] static Legion::FieldID field(std::int64_t timestep) {
    return static_cast<Legion::FieldID>(timestep % 2);
  }
  [[nodiscard]] const teff::graphs::dependence_table& table() const { return table_; }

  /// Launches the tasks of a timestep.
  void launch(Legion::TaskID id, Legion::UntypedBuffer arguments, std::int64_t timestep) const {
    const teff::graphs::interval points = table_.points(timestep);
    Legion::IndexTaskLauncher tasks(id, Legion::Rect<1>(points.first, points.last), arguments,
                                    Legion::ArgumentMap());
    tasks.add_region_requirement({written_, 0, LEGION_WRITE_DISCARD, LEGION_EXCLUSIVE, region_})
        .add_field(field(timestep));
    if (timestep > 0)
      tasks
          .add_region_requirement({read_[static_cast<std::size_t>(table_.set_at(timestep))], 0,
                                   LEGION_READ_ONLY, LEGION_EXCLUSIVE, region_})
          .add_field(field(timestep - 1));
    runtime_->execute_index_space(context_, tasks);
  }

 private:
  /// The inputs of each point's task if a timestep has this set of dependences.
  [[nodiscard]] Legion::IndexPartition partition_by(std::int64_t set) const {
    const teff::graphs::task_graph& graph = table_.graph();
    std::map<Legion::DomainPoint, Legion::Domain> inputs;
    for (std::int64_t point = 0; point < graph.width; ++point) {
      std::vector<Legion::Rect<1>> intervals;
      auto keep = [&](teff::graphs::interval each) { intervals.emplace_back(each.first, each.last); };
      graph.pattern->dependencies(graph, set, point, teff::graphs::interval_sink(keep));
      inputs[Legion::Point<1>(point)] = Legion::DomainT<1>(intervals);
    }
    return runtime_->create_partition_by_domain(context_, points_, inputs, points_);
  }

  Legion::Runtime* runtime_;
  Legion::Context context_;
  const teff::graphs::dependence_table& table_;
  Legion::IndexSpace points_;
  Legion::FieldSpace fields_;
  Legion::LogicalRegion region_;
  Legion::LogicalPartition written_;
  std::vector<Legion::LogicalPartition> read_;  ///< by set of dependences
};
