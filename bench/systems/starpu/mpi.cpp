// StarPU-MPI: every rank submits all tasks. A task runs where its output lives. StarPU sees from the tasks'
// data what a rank has to send and receive, and orders messages and tasks alike.
#include <starpu_mpi.h>

#include <algorithm>
#include <deque>
#include <optional>

#include "columns.hpp"
#include "session.hpp"
#include "task_codelet.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

void run_task(void* buffers[], void* argument) {
  task_name task;
  starpu_codelet_unpack_args(argument, &task);
  execute(task, buffers);
}

class mpi final : public mpi_adapter {
 public:
  explicit mpi(int workers) : mpi_adapter(workers) {
    together([&] { session_.emplace(std::max(1, local_workers())); });
    saw_workers(std::min(session::workers(), local_workers()));
    if (starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD) != 0)
      throw std::runtime_error("StarPU-MPI does not start");
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = run_task;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet_.name = "task";
  }
  ~mpi() override {
    columns_.clear();
    starpu_mpi_shutdown();
  }

  [[nodiscard]] identity describe() const override {
    identity who = identify("starpu", "mpi", starpu_version());
    who.limits = starpu_limits();
    return who;
  }

 private:
  void prepare(workload& work) override {
    columns_.clear();
    steps_ = work.steps();
    starpu_mpi_tag_t tag = 0;
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      const task_graph& graph = work.graph(i);
      const partition blocks(graph.width, describe().workers, ranks());
      columns_.emplace_back(graph, [&](std::int64_t point) { return blocks.owner(point) == rank(); });
      for (const std::int64_t timestep : {0, 1})
        for (std::int64_t point = 0; point < graph.width; ++point)
          starpu_mpi_data_register(columns_[i].output(timestep, point), tag++, blocks.owner(point));
    }
  }

  void execute(workload& work) override {
    const awake workers;
    start(work);
    for (std::int64_t timestep = 0; timestep < steps_; ++timestep)
      for (std::size_t index = 0; index < work.graphs(); ++index) {
        const interval points = work.table(index).points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point)
          submit(work, {&work, index, timestep, point});
      }
    starpu_task_wait_for_all();
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    stop(work);
    columns_.clear();
  }

  void submit(const workload& work, const task_name& name) {
    const columns& data = columns_[name.graph];
    accesses_.clear();
    accesses_.push_back({data.output(name.timestep, name.point), STARPU_W});
    for (const std::int64_t each : work.table(name.graph).inputs(name.timestep, name.point))
      accesses_.push_back({data.output(name.timestep - 1, each), STARPU_R});
    if (starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet_, STARPU_VALUE, &name, sizeof(name),
                               STARPU_DATA_MODE_ARRAY, accesses_.data(), static_cast<int>(accesses_.size()),
                               0) != 0)
      throw std::runtime_error("StarPU-MPI does not take a task");
  }

  std::optional<session> session_;
  starpu_codelet codelet_{};
  std::deque<columns> columns_;
  std::vector<starpu_data_descr> accesses_;
  std::int64_t steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_MULTIPLE,
                     [](int workers) { return std::make_unique<mpi>(workers); });
}
