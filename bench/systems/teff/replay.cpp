// teff::record: a task graph runs timestep by timestep until they repeat; one period is recorded while it
// runs, and replayed as often as it fits. The graph itself runs the timesteps before and after, within the
// time too.
#include <teff/replay.hpp>
#include <teff/runtime.hpp>

#include <barrier>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "results.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/owned_columns.hpp"
#include "teff/graphs/period.hpp"
#include "teff/graphs/task_rows.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// graph, timestep, point; the tasks of `start` are one for each worker, by its number as point.
using key = std::array<std::int32_t, 3>;
constexpr std::int32_t start = -1;

/// A workload while it runs.
class execution {
 public:
  execution(teff::runtime& rt, workload& work)
      : work_(work),
        period_(find_period(work)),
        steps_(work.steps()),
        scratch_(rt.workers()),
        ready_(static_cast<std::ptrdiff_t>(rt.workers()), started{work}),
        graph_(rt) {
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      columns_.push_back(std::make_unique<owned_columns>(work, i, work.workers(), false));
      results_.emplace_back(work.graph(i));
      tasks_.emplace_back(work.table(i), interval{0, work.graph(i).width - 1}, 2,
                          std::bind_front(&execution::look_up, this, i));
    }
    graph_
        .indegree([this](const key& k) {
          return k[1] <= first_ ? 0 : static_cast<int>(of(k).predecessors(k[1], k[2]));
        })
        .place(
            [this](const key& k) { return k[0] == start ? static_cast<unsigned>(k[2]) : of(k).owner(k[2]); })
        .body([this](const key& k) {
          if (k[0] == start) return ready_.arrive_and_wait();
          execute(k, k[1]);
          fulfill_successors(k);
        });
  }

  /// On a worker.
  void run() {
    for (std::int32_t worker = 0; worker < work_.workers(); ++worker) graph_.fulfill({start, 0, worker});
    graph_.wait();
    run_timesteps(0, period_.first);
    if (period_.repeats > 0) {
      begin(period_.first, period_.first + period_.length);
      auto one_period = teff::record(
          graph_, [this] { fulfill_first(); },
          [this](const key& k) {
            const auto earlier = static_cast<std::int32_t>(k[1] - period_.length);
            return k[1] < end_ ? std::nullopt : std::optional<key>({k[0], earlier, k[2]});
          },
          [this](const key& k) { return results_of(k).flag(k[1], k[2]); });
      one_period.replay(static_cast<std::uint64_t>(period_.repeats - 1),
                        [this](const key& k, std::uint64_t i) {
                          execute(k, k[1] + period_.length * static_cast<std::int64_t>(i + 1));
                        });
    }
    run_timesteps(period_.end(), steps_);
    work_.stop();
  }

 private:
  /// The facts that a worker needs about a task.
  struct prepared_task {
    std::span<std::byte> output;
    std::vector<input> inputs;
  };
  struct started {
    workload& work;
    void operator()() noexcept { work.start(); }
  };

  [[nodiscard]] const owned_columns& of(const key& k) const {
    return *columns_[static_cast<std::size_t>(k[0])];
  }

  [[nodiscard]] const results& results_of(const key& k) const {
    return results_[static_cast<std::size_t>(k[0])];
  }

  /// The graph is at rest: its next tasks are the tasks of [first, end).
  void begin(std::int64_t first, std::int64_t end) {
    first_ = first;
    end_ = end;
  }
  void run_timesteps(std::int64_t first, std::int64_t end) {
    if (first >= end) return;
    begin(first, end);
    fulfill_first();
    graph_.wait();
  }
  void fulfill_first() {
    for (std::size_t index = 0; index < columns_.size(); ++index) {
      const interval points = work_.table(index).points(first_);
      for (std::int64_t point = points.first; point <= points.last; ++point)
        graph_.fulfill({static_cast<std::int32_t>(index), static_cast<std::int32_t>(first_),
                        static_cast<std::int32_t>(point)});
    }
  }

  void execute(const key& k, std::int64_t timestep) {
    const auto graph = static_cast<std::size_t>(k[0]);
    const unsigned worker = *teff::worker_index();  // which may run the tasks of another one
    const prepared_task& task = tasks_[graph].at(timestep, k[2], scratch_[worker].task,
                                                 std::bind_front(&execution::look_up, this, graph));
    work_.worker(static_cast<int>(worker)).execute(graph, timestep, k[2], task.output, task.inputs);
  }
  void look_up(std::size_t graph, std::int64_t timestep, std::int64_t point, prepared_task& task) {
    task.output = results_[graph].output(timestep, point);
    task.inputs.clear();
    for (const std::int64_t each : work_.table(graph).inputs(timestep, point))
      task.inputs.emplace_back(results_[graph].output(timestep - 1, each));
  }
  /// The last timestep fulfils successors only if a period follows: then they stand for the successors in the
  /// next period.
  void fulfill_successors(const key& k) {
    const std::int32_t next = k[1] + 1;
    if (next == end_ && end_ != period_.first + period_.length) return;
    for (const std::int32_t each : of(k).after(k[1], k[2], scratch_[*teff::worker_index()].next).points)
      graph_.fulfill({k[0], next, each});
  }

  struct alignas(128) worker_scratch {
    prepared_task task;
    owned_columns::successors next;
  };

  workload& work_;
  const period period_;
  const std::int64_t steps_;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
  std::vector<std::unique_ptr<owned_columns>> columns_;
  std::deque<results> results_;
  std::vector<task_rows<prepared_task>> tasks_;  ///< by graph
  std::vector<worker_scratch> scratch_;
  std::barrier<started> ready_;
  teff::task_graph<key> graph_;
};

class replay_adapter final : public adapter {
 public:
  explicit replay_adapter(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "teff",
            .variant = "replay",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  void run(workload& work) override {
    execution all(runtime_, work);
    runtime_.run([&] { all.run(); });
  }

 private:
  teff::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<replay_adapter>(workers); });
}
