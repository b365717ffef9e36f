// Tasks chained by events. Each processor has a shard, a task that spawns the tasks of the processor's own
// columns long before they can run. A task's event is what later tasks of the shard wait for; those of other
// shards wait for a phase of a barrier of the column, at which the task arrives.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <latch>
#include <memory>
#include <vector>

#include "processors.hpp"
#include "shared_graph.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

using Realm::Barrier;
using Realm::Event;
using Realm::Processor;

enum : Processor::TaskFuncID { shard_task = Processor::TASK_ID_FIRST_AVAILABLE, point_task };

/// A workload while it runs, and the gate before it.
struct execution {
  execution(workload& work, const processors& all) : work(work), all(all), waiting(all.count()) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs.emplace_back(work, i, all.count());
  }
  workload& work;
  const processors& all;
  std::deque<shared_graph> graphs;
  std::latch waiting;
  std::latch open{1};
};

/// What a task is given: Realm copies it.
struct task_arguments {
  execution* run;
  task_name task;
};

void execute_point(const void* arguments, std::size_t, const void* worker, std::size_t, Processor) {
  const auto& [run, task] = *static_cast<const task_arguments*>(arguments);
  execute(run->work, run->graphs[task.graph].grid.outputs, task.graph, task.timestep, task.point,
          processors::worker_of(worker));
}

/// Spawns the tasks of a processor's own columns.
class shard {
 public:
  shard(execution& run, int worker) : run_(run), worker_(worker), graphs_(run.graphs.size()) {
    for (std::size_t i = 0; i < graphs_.size(); ++i)
      for (auto& row : graphs_[i].rows)
        row.resize(static_cast<std::size_t>(run.graphs[i].table.graph().width));
  }

  /// Returns when all its tasks have run.
  void spawn_all() {
    const std::int64_t steps = run_.work.steps();
    for (std::int64_t timestep = 0; timestep < steps; ++timestep)
      for (std::size_t i = 0; i < graphs_.size(); ++i)
        if (timestep < run_.graphs[i].table.graph().steps) spawn_row(i, timestep);
    for (const auto& graph : graphs_)
      for (const auto& row : graph.rows) Event::merge_events(row).wait();
  }

 private:
  struct graph_here {
    std::vector<Event> rows[2];     ///< of the own tasks of the last two timesteps, by point
    std::vector<Barrier> before;    ///< of the tasks of the last timestep, by point
    std::vector<Barrier> barriers;  ///< of this timestep
  };

  void spawn_row(std::size_t index, std::int64_t timestep) {
    const shared_graph& graph = run_.graphs[index];
    graph_here& here = graphs_[index];
    here.before = here.barriers;
    graph.advance(timestep, here.barriers);
    const interval points = graph.table.points(timestep);
    for (std::int64_t point = 0; point < graph.table.graph().width; ++point) {
      if (!is_own(graph, point)) continue;
      const bool is_there = points.first <= point && point <= points.last;
      const Event done = is_there ? spawn(here, {index, timestep, point}) : Event::NO_EVENT;
      if (graph.crosses(point)) here.barriers[static_cast<std::size_t>(point)].arrive(1, done);
    }
  }
  Event spawn(graph_here& here, const task_name& task) {
    const shared_graph& graph = run_.graphs[task.graph];
    const auto& before = here.rows[(task.timestep + 1) % 2];
    awaited_.clear();
    graph.for_each_predecessor(task.timestep, task.point, [&](std::int64_t each) {
      const auto at = static_cast<std::size_t>(each);
      awaited_.push_back(is_own(graph, each) ? before[at] : here.before[at]);
    });
    const task_arguments arguments{&run_, task};
    const Event done =
        run_.all.of(worker_).spawn(point_task, &arguments, sizeof arguments, Event::merge_events(awaited_));
    here.rows[task.timestep % 2][static_cast<std::size_t>(task.point)] = done;
    keep_near(done);
    return done;
  }
  [[nodiscard]] bool is_own(const shared_graph& graph, std::int64_t point) const {
    return static_cast<int>(graph.grid.tasks.owner(point)) == worker_;
  }

  /// Lets tasks run where many wait: each holds memory.
  void keep_near(Event last) {
    constexpr std::int64_t many = 1024;
    if (++spawned_ % many != 0) return;
    const Event old = mark_;
    mark_ = last;
    old.wait();
  }

  execution& run_;
  int worker_;
  std::vector<graph_here> graphs_;
  std::vector<Event> awaited_;  ///< by the task that is spawned
  std::int64_t spawned_ = 0;
  Event mark_ = Event::NO_EVENT;  ///< of a task spawned a while ago
};

void run_shard(const void* arguments, std::size_t, const void* user_data, std::size_t, Processor) {
  execution& run = **static_cast<execution* const*>(arguments);
  const int worker = processors::worker_of(user_data);
  shard here(run, worker);
  bind_to_core(worker);
  run.waiting.count_down();
  run.open.wait();
  here.spawn_all();
}

class events final : public adapter {
 public:
  explicit events(int workers) : all_(workers) {
    all_.add_task(shard_task, run_shard);
    all_.add_task(point_task, execute_point);
  }

  [[nodiscard]] identity describe() const override {
    return {
        .system = "realm", .variant = "events", .version = processors::version(), .workers = all_.count()};
  }

  void run(workload& work) override {
    execution run(work, all_);
    execution* const here = &run;
    std::vector<Event> shards;
    for (int worker = 0; worker < all_.count(); ++worker)
      shards.push_back(all_.of(worker).spawn(shard_task, &here, sizeof here));
    run.waiting.wait();
    work.start();
    run.open.count_down();
    Event::merge_events(shards).external_wait();
    work.stop();
  }

 private:
  processors all_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<events>(workers); });
}
