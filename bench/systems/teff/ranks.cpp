// teff::distributed_graph over MPI: the key of a task is (graph, timestep, point). A task's end is told to
// another rank by one message for all tasks there that wait for it, with the output if one of them reads it.
#include <teff/distributed_graph.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "over_ranks.hpp"
#include "teff/graphs/owned_grid.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A task, and which of all ranks' workers runs it. Or the end of one, to be told to the rank `to`; then
/// `graph` is end_in() of it.
struct key {
  std::int32_t timestep;
  std::int32_t point;
  std::int16_t graph;
  std::uint16_t to;

  friend bool operator==(const key&, const key&) = default;
};
/// And back.
constexpr std::int16_t end_in(int graph) {
  return static_cast<std::int16_t>(-1 - graph);
}

/// A workload while it runs.
class execution {
 public:
  execution(teff::communicator& comm, workload& work, const team& all, std::deque<owned_grid>& grids)
      : work_(work), all_(all), grids_(grids), inputs_(comm.workers().workers()), graph_(comm) {
    graph_.rank([this](const key& k) { return k.graph < 0 ? k.to : all_.rank(); })
        .place([this](const key& k) { return all_.here(k.to); })
        .indegree([this](const key& k) {
          return static_cast<int>(of(k.graph).tasks.predecessors(k.timestep, k.point));
        })
        .arrived([this](const key& k, bytes output) {
          if (k.graph >= 0) return true;
          arrive(k, end_in(k.graph), output);
          return false;
        })
        .body([this](const key& k) { execute(k); });
  }

  void run() {
    graph_.wait();  // of nothing: until all ranks are here
    work_.start();
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      const interval points = work_.table(i).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point) {
        const unsigned owner = grids_[i].tasks.owner(point);
        if (all_.rank_of(owner) == all_.rank())
          graph_.fulfill({0, static_cast<std::int32_t>(point), static_cast<std::int16_t>(i),
                          static_cast<std::uint16_t>(owner)},
                         {});
      }
    }
    graph_.wait();
    work_.stop();
  }

 private:
  using bytes = std::span<const std::byte>;

  [[nodiscard]] owned_grid& of(std::int16_t graph) const { return grids_[static_cast<std::size_t>(graph)]; }

  void execute(const key& k) {
    owned_grid& graph = of(k.graph);
    const auto output = graph.outputs.at(k.timestep, k.point);
    const unsigned worker = all_.here(k.to);
    work_.worker(static_cast<int>(worker))
        .execute(static_cast<std::size_t>(k.graph), k.timestep, k.point, output,
                 graph.outputs.inputs(k.timestep, k.point, inputs_[worker].scratch));
    // A task may wait here for room for its message, and other tasks run within it: each has its own list.
    owned_columns::successors scratch;
    const auto& next = graph.tasks.after(k.timestep, k.point, scratch);
    int told = all_.rank();
    for (const auto& group : next.groups) {  // a rank's groups are side by side
      const int rank = all_.rank_of(group.worker);
      if (rank == all_.rank()) {
        fulfill(k, k.graph, group.worker, next.of(group));
      } else if (rank != told) {
        told = rank;
        graph_.fulfill({k.timestep, k.point, end_in(k.graph), static_cast<std::uint16_t>(rank)},
                       is_read_on(rank, k, graph) ? bytes(output) : bytes());
      }
    }
  }
  [[nodiscard]] bool is_read_on(int rank, const key& k, const owned_grid& graph) const {
    if (graph.kept) return true;  // tasks wait for their inputs and nothing else
    for (const std::int64_t reader :
         work_.table(static_cast<std::size_t>(k.graph)).consumers(k.timestep, k.point))
      if (all_.rank_of(graph.tasks.owner(reader)) == rank) return true;
    return false;
  }
  void arrive(const key& end, std::int16_t index, bytes output) {
    owned_grid& graph = of(index);
    if (!output.empty())
      std::memcpy(graph.outputs.at(end.timestep, end.point).data(), output.data(), output.size());
    owned_columns::successors scratch;
    const auto& next = graph.tasks.after(end.timestep, end.point, scratch);
    for (const auto& group : next.groups)
      if (all_.rank_of(group.worker) == all_.rank()) fulfill(end, index, group.worker, next.of(group));
  }
  /// The tasks at `points` that wait for `before`, and are the same worker's.
  void fulfill(const key& before, std::int16_t graph, unsigned worker, std::span<const std::int32_t> points) {
    for (const std::int32_t point : points)
      graph_.fulfill({before.timestep + 1, point, graph, static_cast<std::uint16_t>(worker)}, {});
  }

  /// A worker's.
  struct alignas(128) own {
    std::vector<input> scratch;
  };

  workload& work_;
  const team& all_;
  std::deque<owned_grid>& grids_;
  std::vector<own> inputs_;
  teff::distributed_graph<key, bytes> graph_;
};

class ranks_adapter final : public over_ranks {
 public:
  explicit ranks_adapter(int workers) : over_ranks("ranks", workers) {}

 private:
  void prepare(workload& work) override {
    over_ranks::prepare(work);
    grids_.clear();  // of the run before: two need not fit
    for (std::size_t i = 0; i < work.graphs(); ++i) grids_.emplace_back(work, i, all().workers());
  }
  void run_on(teff::communicator& comm, workload& work) override {
    execution run(comm, work, all(), grids_);
    workers().run([&] { run.run(); });
  }

  std::deque<owned_grid> grids_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SERIALIZED,
                     [](int workers) { return std::make_unique<ranks_adapter>(workers); });
}
