// teff::distributed_replay over MPI: planned are the tasks of as many timesteps as there are dependence sets;
// an iteration is one such row of timesteps. A task does nothing at a timestep that lacks its point.
#include <teff/distributed_replay.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "over_ranks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A task of an iteration, and which of all ranks' workers runs it.
struct key {
  std::int32_t timestep;
  std::int32_t point;
  std::int16_t graph;
  std::uint16_t worker;

  friend bool operator==(const key&, const key&) = default;
};

/// A graph as it is planned.
class planned_graph {
 public:
  planned_graph(const dependence_table& table, int workers) : table_(table), workers_(workers) {
    if (!varies()) return;
    for (std::int64_t point = 0; point < width(); ++point) read_.push_back(points_read(0, point));
  }

  [[nodiscard]] interval columns_of(int worker) const {
    return {worker * width() / workers_, (worker + 1) * width() / workers_ - 1};
  }
  [[nodiscard]] int worker_of(std::int64_t point) const {
    return static_cast<int>(((point + 1) * workers_ - 1) / width());
  }
  [[nodiscard]] bool varies() const { return table_.graph().pattern->varying_width; }
  /// After as many timesteps the dependences repeat. Where the width varies, all that ever are count at each.
  [[nodiscard]] std::int64_t period() const { return varies() ? 1 : table_.graph().dependence_sets(); }
  /// The points of the timestep before that a task reads at a timestep of this kind.
  [[nodiscard]] std::vector<std::int64_t> points_read(std::int64_t timestep, std::int64_t point) const {
    return points(timestep, point, &pattern::dependencies);
  }
  /// Whether a task's output is read by other workers.
  [[nodiscard]] bool is_read_elsewhere(std::int64_t timestep, std::int64_t point) const {
    const interval own = columns_of(worker_of(point));
    return std::ranges::any_of(points(timestep + 1, point, &pattern::reverse_dependencies),
                               [&](std::int64_t each) { return !own.contains(each); });
  }
  /// The inputs at a timestep, of all that the planned task reads.
  [[nodiscard]] std::span<const input> inputs(std::int64_t timestep, std::int64_t point,
                                              std::span<const input> planned,
                                              std::vector<input>& scratch) const {
    if (timestep == 0) return {};
    if (!varies()) return planned;
    const auto& read = read_[static_cast<std::size_t>(point)];
    scratch.clear();
    for (const std::int64_t each : table_.inputs(timestep, point))
      scratch.push_back(planned[static_cast<std::size_t>(std::ranges::find(read, each) - read.begin())]);
    return scratch;
  }

 private:
  [[nodiscard]] std::int64_t width() const { return table_.graph().width; }
  template <class Which>
  [[nodiscard]] std::vector<std::int64_t> points(std::int64_t timestep, std::int64_t point,
                                                 Which which) const {
    std::vector<std::int64_t> all;
    const auto add_all = [&](interval each) {
      for (std::int64_t next = each.first; next <= each.last; ++next)
        if (std::ranges::find(all, next) == all.end()) all.push_back(next);
    };
    const task_graph& graph = table_.graph();
    const auto add = [&](std::int64_t set) {
      auto sink = add_all;
      (graph.pattern->*which)(graph, set, point, interval_sink(sink));
    };
    if (!varies()) {
      add(graph.dependence_set(timestep));
    } else {
      for (std::int64_t set = 0; set < graph.dependence_sets(); ++set) add(set);
    }
    return all;
  }

  const dependence_table& table_;
  std::int64_t workers_;
  std::vector<std::vector<std::int64_t>> read_;  ///< by point, where the width varies
};

/// A workload while it runs.
class execution {
 public:
  execution(teff::communicator& comm, workload& work, const team& all)
      : work_(work), all_(all), scratch_(static_cast<std::size_t>(comm.workers().workers())), tasks_(comm) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs_.emplace_back(work.table(i), all.workers());
    length_ = 1;
    for (const planned_graph& each : graphs_)
      if (length_ < work.steps()) length_ = std::lcm(length_, each.period());
    length_ = std::min(length_, work.steps());
    tasks_.rank([this](const key& k) { return all_.rank_of(k.worker); });
    for (std::int64_t timestep = 0; timestep < length_; ++timestep)
      for (std::size_t i = 0; i < graphs_.size(); ++i)
        for (int worker = 0; worker < all.workers(); ++worker)
          if (all.is_here(worker)) add(timestep, i, worker);
    tasks_.plan();
  }

  void run() {
    tasks_.replay(0, [](const key&, const teff::replayed_task&) {});  // until all ranks are here
    work_.start();
    tasks_.replay(static_cast<std::uint64_t>((work_.steps() + length_ - 1) / length_),
                  [this](const key& k, const teff::replayed_task& task) { execute(k, task); });
    work_.stop();
  }

 private:
  /// The tasks of a worker at a timestep: first the tasks whose outputs others wait for.
  void add(std::int64_t timestep, std::size_t index, int worker) {
    const planned_graph& graph = graphs_[index];
    const interval own = graph.columns_of(worker);
    std::vector<std::int64_t> points(static_cast<std::size_t>(own.size()));
    std::iota(points.begin(), points.end(), own.first);
    std::ranges::sort(points, {}, [&](std::int64_t point) {
      return std::pair(!graph.is_read_elsewhere(timestep, point), point);
    });
    const auto bytes = static_cast<std::size_t>(work_.graph(index).output_bytes);
    const std::int64_t before = timestep == 0 ? length_ - 1 : timestep - 1;
    for (const std::int64_t point : points) {
      std::vector<teff::replay_input<key>> inputs;
      for (const std::int64_t each : graph.points_read(timestep, point))
        inputs.push_back({name(before, index, each), timestep == 0 ? 1U : 0U});
      tasks_.add(name(timestep, index, point), bytes, std::move(inputs),
                 all_.here(static_cast<unsigned>(worker)));
    }
  }
  [[nodiscard]] key name(std::int64_t timestep, std::size_t index, std::int64_t point) const {
    return {static_cast<std::int32_t>(timestep), static_cast<std::int32_t>(point),
            static_cast<std::int16_t>(index), static_cast<std::uint16_t>(graphs_[index].worker_of(point))};
  }

  void execute(const key& k, const teff::replayed_task& task) {
    const std::int64_t timestep = static_cast<std::int64_t>(task.iteration) * length_ + k.timestep;
    const auto index = static_cast<std::size_t>(k.graph);
    if (!work_.table(index).points(timestep).contains(k.point)) return;
    const auto here = static_cast<std::size_t>(all_.here(k.worker));
    work_.worker(static_cast<int>(here))
        .execute(index, timestep, k.point, task.output,
                 graphs_[index].inputs(timestep, k.point, task.inputs, scratch_[here].inputs));
  }

  struct alignas(128) worker_scratch {
    std::vector<input> inputs;
  };

  workload& work_;
  const team& all_;
  std::vector<planned_graph> graphs_;
  std::int64_t length_;  ///< of an iteration, in timesteps
  std::vector<worker_scratch> scratch_;
  teff::distributed_replay<key> tasks_;
};

class ranks_replay_adapter final : public over_ranks {
 public:
  explicit ranks_replay_adapter(int workers) : over_ranks("ranks_replay", workers) {}

 private:
  void run_on(teff::communicator& comm, workload& work) override {
    execution run(comm, work, all());
    workers().run([&] { run.run(); });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SERIALIZED,
                     [](int workers) { return std::make_unique<ranks_replay_adapter>(workers); });
}
