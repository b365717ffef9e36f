// TaskTorrent over MPI ranks: a task fulfils promises of its rank. To each other rank with tasks that wait
// for it, it sends one active message, with its output if a task there reads it. The message fulfils the
// promises there. Large outputs go from memory to memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "pinned_pool.hpp"
#include "teff/graphs/mpi_adapter.hpp"
#include "teff/graphs/owned_grid.hpp"
#include "teff/graphs/team.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

using threads = pinned_pool<ttor::Threadpool>;
using key = std::array<int, 3>;  ///< graph, timestep, point

/// Outputs of this size and more are large messages: two messages of MPI, but nothing is copied.
constexpr std::size_t large = std::size_t{8} << 10;

/// A workload while it runs.
class execution {
 public:
  execution(MPI_Comm ranks, workload& work, const team& all, std::deque<owned_grid>& grids)
      : work_(work),
        all_(all),
        grids_(grids),
        messages_(ranks),
        threads_(work.workers(), &messages_, 0, "Wk_", false),
        flow_(&threads_.pool()) {
    flow_.set_mapping([this](key task) { return static_cast<int>(all_.here(of(task).tasks.owner(task[2]))); })
        .set_indegree([this](key task) {
          return task[1] == 0 ? 1 : static_cast<int>(of(task).tasks.predecessors(task[1], task[2]));
        })
        .set_task([this](key task) {
          teff::graphs::execute(work_, of(task).outputs, static_cast<std::size_t>(task[0]), task[1], task[2],
                                threads::this_thread());
        })
        .set_fulfill([this](key task) { fulfill(task); });
    small_ =
        messages_.make_active_msg([this](int& graph, int& timestep, int& point, ttor::view<char>& output) {
          const key task{graph, timestep, point};
          if (output.size() > 0) std::memcpy(place(task), output.data(), output.size());
          fulfill_here(task);
        });
    large_ = messages_.make_large_active_msg(
        [this](int& graph, int& timestep, int& point) { fulfill_here({graph, timestep, point}); },
        [this](int& graph, int& timestep, int& point) { return place({graph, timestep, point}); },
        [](int&, int&, int&) {});  // a task that overwrites the output waits for those that read it
  }

  void gather() { threads_.gather(); }

  void run() {
    threads_.open();
    for (std::size_t i = 0; i < grids_.size(); ++i) {
      const interval points = work_.table(i).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point)
        if (all_.is_here(grids_[i].tasks.owner(point)))
          flow_.fulfill_promise({static_cast<int>(i), 0, static_cast<int>(point)});
    }
    threads_.pool().join();
  }

 private:
  [[nodiscard]] owned_grid& of(const key& task) const { return grids_[static_cast<std::size_t>(task[0])]; }
  [[nodiscard]] char* place(const key& task) const {
    return reinterpret_cast<char*>(of(task).outputs.at(task[1], task[2]).data());
  }

  void fulfill(const key& task) {
    thread_local owned_columns::successors scratch;
    const auto& next = of(task).tasks.after(task[1], task[2], scratch);
    int told = all_.rank();
    for (const auto& group : next.groups) {  // a rank's groups are side by side
      const int rank = all_.rank_of(group.worker);
      if (rank == all_.rank()) {
        promise(task, next.of(group));
      } else if (rank != told) {
        told = rank;
        send(task, rank);
      }
    }
  }
  void fulfill_here(const key& task) {
    owned_columns::successors scratch;
    const auto& next = of(task).tasks.after(task[1], task[2], scratch);
    for (const auto& group : next.groups)
      if (all_.is_here(group.worker)) promise(task, next.of(group));
  }
  void promise(const key& before, std::span<const std::int32_t> points) {
    for (const std::int32_t point : points) flow_.fulfill_promise({before[0], before[1] + 1, point});
  }

  void send(const key& task, int rank) {
    auto [graph, timestep, point] = task;
    const std::size_t bytes =
        is_read_on(rank, task) ? of(task).outputs.at(timestep, point).size() : std::size_t{0};
    ttor::view<char> output(place(task), bytes);
    if (bytes >= large) {
      large_->send_large(rank, output, graph, timestep, point);
    } else {
      small_->send(rank, graph, timestep, point, output);
    }
  }
  [[nodiscard]] bool is_read_on(int rank, const key& task) const {
    if (of(task).kept) return true;  // tasks wait for their inputs and nothing else
    for (const std::int64_t reader :
         work_.table(static_cast<std::size_t>(task[0])).consumers(task[1], task[2]))
      if (all_.rank_of(of(task).tasks.owner(reader)) == rank) return true;
    return false;
  }

  workload& work_;
  const team& all_;
  std::deque<owned_grid>& grids_;
  ttor::Communicator messages_;
  threads threads_;
  ttor::Taskflow<key> flow_;
  ttor::ActiveMsg<int, int, int, ttor::view<char>>* small_ = nullptr;  ///< of messages_
  ttor::ActiveMsg<int, int, int>* large_ = nullptr;
};

/// Every rank has a worker at least.
class ranks_adapter final : public mpi_adapter {
 public:
  explicit ranks_adapter(int workers) : ranks_adapter(workers, ranks_of_job()) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return identify("tasktorrent", "ranks", "1.0");
  }

 private:
  ranks_adapter(int workers, int ranks)
      : mpi_adapter(std::max(workers, ranks)), all_(rank(), ranks, std::max(workers, ranks)) {
    saw_workers(pinned_pool<ttor::Threadpool_shared>::count(local_workers(), 0, "Wk_", false));
  }

  static int ranks_of_job() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }

  void prepare(workload& work) override {
    grids_.clear();  // of the run before: two need not fit
    for (std::size_t i = 0; i < work.graphs(); ++i) grids_.emplace_back(work, i, all_.workers());
  }
  void execute(workload& work) override {
    execution run(communicator(0), work, all_, grids_);
    run.gather();
    start(work);
    run.run();
    stop(work);
  }

  team all_;
  std::deque<owned_grid> grids_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_FUNNELED,
                     [](int workers) { return std::make_unique<ranks_adapter>(workers); });
}
