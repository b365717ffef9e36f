#pragma once

#include <realm.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <tuple>
#include <vector>

#include "execution.hpp"

/// A subgraph of a shard's tasks at some timesteps, the window, and at all that look like these. The
/// differences are interpolated: the first timestep, and the barriers at which tasks arrive. Tasks have the
/// number of their timestep in the window.
class window_subgraph {
 public:
  using task_name = teff::graphs::task_name;

  /// There has to be a task: Realm takes an empty subgraph for one with a cycle, and aborts.
  window_subgraph(execution& run, int shard, std::int64_t first, std::int64_t length)
      : run_(run), shard_(shard), first_(first), length_(length) {
    for (std::int64_t step = 0; step < length; ++step)
      for (std::size_t i = 0; i < run.graphs.size(); ++i) define_row(i, step);
    for (const auto& [name, index] : tasks_)
      if (std::get<1>(name) == length - 1)
        define_end({std::get<0>(name), length - 1, std::get<2>(name)}, index);
    Realm::Subgraph::create_subgraph(subgraph_, definition_, Realm::ProfilingRequestSet()).wait();
    definition_ = {};
  }
  ~window_subgraph() { subgraph_.destroy(); }
  window_subgraph(const window_subgraph&) = delete;
  window_subgraph& operator=(const window_subgraph&) = delete;

  [[nodiscard]] std::int64_t length() const { return length_; }
  /// The tasks that the preconditions stand for, in their order: tasks of the timestep before the given one.
  [[nodiscard]] const std::vector<task_name>& awaited() const { return awaited_; }
  /// The tasks that arrive at barriers, in the order of those. Where the point is not there, the barrier is
  /// arrived at all the same.
  [[nodiscard]] const std::vector<task_name>& arriving() const { return arriving_; }
  /// The tasks whose events are postconditions, in the order of the postconditions.
  [[nodiscard]] const std::vector<task_name>& last() const { return last_; }

  /// Spawns the tasks of the window that begins with timestep `first`. The event waits for all of them.
  Realm::Event instantiate(std::int64_t first, const std::vector<Realm::Barrier>& barriers,
                           const std::vector<Realm::Event>& before, std::vector<Realm::Event>& after) {
    arguments_.resize(place_of_barrier(barriers.size()));
    std::memcpy(arguments_.data(), &first, sizeof first);
    for (std::size_t i = 0; i < barriers.size(); ++i)
      std::memcpy(arguments_.data() + place_of_barrier(i), &barriers[i], sizeof barriers[i]);
    after.resize(last_.size());
    return subgraph_.instantiate(arguments_.data(), arguments_.size(), Realm::ProfilingRequestSet(), before,
                                 after);
  }

 private:
  using definition = Realm::SubgraphDefinition;
  using numbers = std::map<std::tuple<std::size_t, std::int64_t, std::int64_t>, unsigned>;

  static constexpr std::size_t place_of_barrier(std::size_t index) {
    return sizeof(std::int64_t) + index * sizeof(Realm::Barrier);
  }

  void define_row(std::size_t index, std::int64_t step) {
    const shared_graph& graph = run_.graphs[index];
    if (first_ + step >= graph.table.graph().steps) return;
    const teff::graphs::interval points = graph.table.points(first_ + step);
    for (std::int64_t point = 0; point < graph.table.graph().width; ++point) {
      if (graph.shard_of(point) != shard_) continue;
      if (points.first <= point && point <= points.last) define_task({index, step, point});
      if (graph.crosses(point)) define_arrival({index, step, point});
    }
  }
  void define_task(const task_name& task) {
    const auto index = static_cast<unsigned>(definition_.tasks.size());
    tasks_[{task.graph, task.timestep, task.point}] = index;
    const task_arguments arguments{&run_, first_, task};
    definition::TaskDesc& described = definition_.tasks.emplace_back();
    described.proc = place_of(run_, task);
    described.task_id = point_task;
    described.args.set(&arguments, sizeof arguments);
    interpolate(definition::Interpolation::TARGET_TASK_ARGS, index, 0, sizeof arguments.first,
                offsetof(task_arguments, first));
    const shared_graph& graph = run_.graphs[task.graph];
    graph.for_each_predecessor(first_ + task.timestep, task.point, [&](std::int64_t each) {
      const auto inside = tasks_.find({task.graph, task.timestep - 1, each});
      if (inside != tasks_.end()) {
        depend(definition::OPKIND_TASK, inside->second, definition::OPKIND_TASK, index);
      } else {
        depend(definition::OPKIND_EXT_PRECOND, precondition({task.graph, task.timestep, each}),
               definition::OPKIND_TASK, index);
      }
    });
  }
  void define_arrival(const task_name& task) {
    const auto index = static_cast<unsigned>(definition_.arrivals.size());
    definition_.arrivals.emplace_back();
    interpolate(definition::Interpolation::TARGET_ARRIVAL_BARRIER, index, place_of_barrier(index),
                sizeof(Realm::Barrier), 0);
    const auto arrives = tasks_.find({task.graph, task.timestep, task.point});
    if (arrives != tasks_.end())
      depend(definition::OPKIND_TASK, arrives->second, definition::OPKIND_ARRIVAL, index);
    arriving_.push_back(task);
  }
  void define_end(const task_name& task, unsigned index) {
    depend(definition::OPKIND_TASK, index, definition::OPKIND_EXT_POSTCOND,
           static_cast<unsigned>(last_.size()));
    last_.push_back(task);
  }
  /// The number of the precondition that stands for a task.
  unsigned precondition(const task_name& task) {
    const auto [at, is_new] = preconditions_.try_emplace({task.graph, task.timestep, task.point},
                                                         static_cast<unsigned>(awaited_.size()));
    if (is_new) awaited_.push_back(task);
    return at->second;
  }

  void depend(definition::OpKind source_kind, unsigned source, definition::OpKind target_kind,
              unsigned target) {
    definition::Dependency& one = definition_.dependencies.emplace_back();
    one.src_op_kind = source_kind;
    one.src_op_index = source;
    one.tgt_op_kind = target_kind;
    one.tgt_op_index = target;
  }
  void interpolate(definition::Interpolation::TargetKind kind, unsigned index, std::size_t offset,
                   std::size_t bytes, std::size_t target_offset) {
    definition::Interpolation& one = definition_.interpolations.emplace_back();
    one.offset = offset;
    one.bytes = bytes;
    one.target_kind = kind;
    one.target_index = index;
    one.target_offset = target_offset;
  }

  execution& run_;
  int shard_;
  std::int64_t first_;
  std::int64_t length_;
  definition definition_;
  numbers tasks_;
  numbers preconditions_;
  std::vector<task_name> awaited_;
  std::vector<task_name> arriving_;
  std::vector<task_name> last_;
  std::vector<std::byte> arguments_;
  Realm::Subgraph subgraph_;
};
