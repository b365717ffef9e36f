// teff::task_graph: the key of a task is (graph, timestep, point). Its end is told to another worker by one
// message for all tasks there that wait for it, which brings a small output along.
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <array>
#include <barrier>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "outputs.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/configuration.hpp"
#include "teff/graphs/owned_columns.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A task: (graph, timestep, point); graph `start` has one task for each worker. Or the end of one, to be
/// told to a worker, with its output where it travels; then `graph` is end_in() of it. Two fit a cache line,
/// each with the four bytes that say that it is there.
struct key {
  std::int32_t timestep;
  std::int32_t point;
  std::int16_t graph;
  std::uint16_t worker;
  std::array<std::byte, outputs::most_travelling> output{};

  friend bool operator==(const key& a, const key& b) {
    return a.point == b.point && a.timestep == b.timestep && a.graph == b.graph;
  }
};
constexpr std::int16_t start = -1;
/// And back.
constexpr std::int16_t end_in(int graph) {
  return static_cast<std::int16_t>(start - 1 - graph);
}

struct hash_of_task {
  std::size_t operator()(const key& k) const noexcept {
    const auto word = [](std::int32_t value) { return static_cast<std::uint64_t>(value); };
    return teff::key_hash<std::uint64_t>{}(word(k.timestep) << 32 ^ word(k.graph) << 24 ^ word(k.point));
  }
};

/// A workload while it runs.
class execution {
 public:
  execution(teff::runtime& rt, workload& work, bool placed)
      : work_(work),
        placed_(placed),
        own_(rt.workers()),
        ready_(static_cast<std::ptrdiff_t>(rt.workers()), started{work}),
        graph_(rt) {
    std::size_t numbers = 0;
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      grids_.push_back(std::make_unique<grid>(work, i, placed ? work.workers() : 1,
                                              placed && outputs::may_travel(work.graph(i)), numbers));
      numbers += static_cast<std::size_t>(work.graph(i).width * work.graph(i).steps);
    }
    for (std::size_t i = 0; i < own_.size(); ++i) own_[i].tasks = &work.worker(static_cast<int>(i));
    // A worker that counts alone finds the few keys that wait sooner in its table.
    if (!placed)
      graph_.dense(numbers, [this](const key& k) { return of(k.graph).number(k.timestep, k.point); });
    graph_
        .indegree([this](const key& k) {
          return k.graph == start ? 0 : static_cast<int>(of(k.graph).tasks.predecessors(k.timestep, k.point));
        })
        .place([placed](const key& k) { return placed || k.graph == start ? k.worker : teff::anywhere; })
        .received([this](const key& k) {
          const bool is_task = k.graph >= start;
          if (!is_task) arrive(k, end_in(k.graph));
          return is_task;
        })
        .body([this](const key& k) { k.graph == start ? begin(k.worker) : execute(k); });
  }

  /// On a worker.
  void run() {
    for (std::uint16_t worker = 0; worker < own_.size(); ++worker)
      graph_.fulfill({.timestep = 0, .point = worker, .graph = start, .worker = worker});
    graph_.wait();
    work_.stop();
  }

 private:
  struct started {
    workload& work;
    void operator()() noexcept { work.start(); }
  };

  struct grid {
    owned_columns tasks;
    outputs results;
    std::size_t first_number;
    std::size_t steps;
    grid(const workload& work, std::size_t index, int workers, bool travel, std::size_t first)
        : tasks(work, index, workers, outputs::kept(work, index, travel).has_value()),
          results(work, index, tasks, travel),
          first_number(first),
          steps(static_cast<std::size_t>(work.graph(index).steps)) {}
    /// A column's tasks are side by side, so workers with different columns count on different cache lines.
    [[nodiscard]] std::size_t number(std::int32_t timestep, std::int32_t point) const {
      return first_number + static_cast<std::size_t>(point) * steps + static_cast<std::size_t>(timestep);
    }
  };
  /// A worker's.
  struct alignas(128) own {
    teff::graphs::worker* tasks;
    std::vector<input> inputs;
    owned_columns::successors next;
  };

  [[nodiscard]] const grid& of(std::int16_t graph) const { return *grids_[static_cast<std::size_t>(graph)]; }

  /// On every worker once: the time starts when all are awake.
  void begin(std::uint16_t worker) {
    ready_.arrive_and_wait();
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      key first{.timestep = 0, .point = 0, .graph = static_cast<std::int16_t>(i), .worker = worker};
      const interval points = work_.table(i).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point) {
        first.point = static_cast<std::int32_t>(point);
        if (grids_[i]->tasks.owner(point) == worker) graph_.fulfill(first);
      }
    }
  }

  void execute(const key& k) {
    const auto& tasks = of(k.graph).tasks;
    const auto& results = of(k.graph).results;
    const unsigned owner = placed_ ? k.worker : 0;
    own& here = own_[*teff::worker_index()];  // which may run the tasks of another one
    const auto output = results.at(k.timestep, k.point, owner);
    const auto inputs = results.inputs(k.timestep, k.point, here.inputs);
    here.tasks->execute(static_cast<std::size_t>(k.graph), k.timestep, k.point, output, inputs);
    const auto& next = tasks.after(k.timestep, k.point, here.next);
    for (const auto& group : next.groups) {
      if (group.worker == owner) {
        fulfill(k, k.graph, next.of(group));
      } else {
        key end{k.timestep, k.point, end_in(k.graph), static_cast<std::uint16_t>(group.worker)};
        if (results.travel()) std::memcpy(end.output.data(), output.data(), end.output.size());
        graph_.fulfill(end);
      }
    }
  }
  void arrive(const key& end, std::int16_t graph) {
    const auto& tasks = of(graph).tasks;
    const auto& results = of(graph).results;
    if (results.travel())
      std::memcpy(results.at(end.timestep, end.point, end.worker).data(), end.output.data(),
                  end.output.size());
    fulfill(end, graph,
            tasks.after(end.timestep, end.point, own_[*teff::worker_index()].next).on(end.worker));
  }
  /// The tasks at `points` that wait for `before`, and are the same worker's.
  void fulfill(const key& before, std::int16_t graph, std::span<const std::int32_t> points) {
    key next{.timestep = before.timestep + 1, .point = 0, .graph = graph, .worker = before.worker};
    for (const std::int32_t point : points) {
      next.point = point;
      graph_.fulfill(next);
    }
  }

  workload& work_;
  bool placed_;
  std::vector<std::unique_ptr<grid>> grids_;
  std::vector<own> own_;
  std::barrier<started> ready_;
  teff::task_graph<key, hash_of_task> graph_;
};

class task_graph_adapter final : public adapter {
 public:
  task_graph_adapter(int workers, bool placed)
      : runtime_({.workers = static_cast<unsigned>(workers)}), placed_(placed) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "teff",
            .variant = placed_ ? "task_graph" : "task_graph_stealing",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  void run(workload& work) override {
    constexpr std::size_t most_graphs = std::numeric_limits<std::int16_t>::max();
    if (work.graphs() > most_graphs)
      throw usage_error(std::to_string(work.graphs()) + " graphs: libteff's task graph runs at most " +
                        std::to_string(most_graphs) + " at once");
    execution all(runtime_, work, placed_);
    runtime_.run([&] { all.run(); });
  }

 private:
  teff::runtime runtime_;
  bool placed_;
};

}  // namespace

// With --stealing first, no task has a place.
int main(int argc, char** argv) {
  const bool stealing = argc > 1 && std::strcmp(argv[1], "--stealing") == 0;
  if (stealing) {
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  return drive(argc, argv,
               [&](int workers) { return std::make_unique<task_graph_adapter>(workers, !stealing); });
}
