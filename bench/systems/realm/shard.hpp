#pragma once

#include <realm.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "execution.hpp"

/// Spawns the tasks of its processors' columns, long before they can run. Later tasks of the shard wait for a
/// task's event. Tasks of other shards wait for a phase of the column's barrier, at which the task arrives.
/// It is used by a task, which may wait.
class shard {
 public:
  shard(execution& run, int number) : run_(run), number_(number), graphs_(run.graphs.size()) {
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      for (auto& row : graphs_[i].rows)
        row.resize(static_cast<std::size_t>(run.graphs[i].table.graph().width));
  }

 protected:
  struct graph_here {
    std::vector<Realm::Event> rows[2];     ///< of the own tasks of the last two timesteps, by point
    std::vector<Realm::Barrier> before;    ///< of the tasks of the last timestep, by point
    std::vector<Realm::Barrier> barriers;  ///< of this timestep
  };

  /// Spawns the shard's tasks of the next timestep.
  void spawn_timestep(std::int64_t timestep) {
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      if (timestep < run_.graphs[i].table.graph().steps) spawn_row(i, timestep);
  }
  /// Returns when the own tasks that no task waits for have run.
  void wait() const {
    for (const auto& graph : graphs_)
      for (const auto& row : graph.rows) Realm::Event::merge_events(row).wait();
  }

  [[nodiscard]] bool is_own(std::size_t graph, std::int64_t point) const {
    return run_.graphs[graph].shard_of(point) == number_;
  }
  void advance(std::size_t graph, std::int64_t timestep) {
    graph_here& here = graphs_[graph];
    here.before = here.barriers;
    run_.graphs[graph].advance(timestep, here.barriers);
  }
  /// By what tasks of a timestep wait for a point of the one before.
  [[nodiscard]] Realm::Event awaited(std::size_t graph, std::int64_t timestep, std::int64_t point) const {
    const graph_here& here = graphs_[graph];
    const auto at = static_cast<std::size_t>(point);
    return is_own(graph, point) ? here.rows[(timestep + 1) % 2][at] : here.before[at];
  }

  execution& run_;
  int number_;
  std::vector<graph_here> graphs_;

 private:
  void spawn_row(std::size_t index, std::int64_t timestep) {
    const shared_graph& graph = run_.graphs[index];
    graph_here& here = graphs_[index];
    advance(index, timestep);
    const teff::graphs::interval points = graph.table.points(timestep);
    for (std::int64_t point = 0; point < graph.table.graph().width; ++point) {
      if (!is_own(index, point)) continue;
      const bool is_there = points.first <= point && point <= points.last;
      const Realm::Event done = is_there ? spawn({index, timestep, point}) : Realm::Event::NO_EVENT;
      if (graph.crosses(point)) here.barriers[static_cast<std::size_t>(point)].arrive(1, done);
    }
  }
  Realm::Event spawn(const teff::graphs::task_name& task) {
    awaited_.clear();
    run_.graphs[task.graph].for_each_predecessor(task.timestep, task.point, [&](std::int64_t each) {
      awaited_.push_back(awaited(task.graph, task.timestep, each));
    });
    const task_arguments arguments{&run_, 0, task};
    const Realm::Event done =
        place_of(run_, task)
            .spawn(point_task, &arguments, sizeof arguments, Realm::Event::merge_events(awaited_));
    graphs_[task.graph].rows[task.timestep % 2][static_cast<std::size_t>(task.point)] = done;
    keep_near(done);
    return done;
  }

  /// Lets tasks run where many wait: each holds memory.
  void keep_near(Realm::Event last) {
    constexpr std::int64_t many = 1024;
    if (++spawned_ % many != 0) return;
    const Realm::Event old = mark_;
    mark_ = last;
    old.wait();
  }

  std::vector<Realm::Event> awaited_;  ///< by the task that is spawned
  std::int64_t spawned_ = 0;
  Realm::Event mark_ = Realm::Event::NO_EVENT;  ///< of a task spawned a while ago
};
