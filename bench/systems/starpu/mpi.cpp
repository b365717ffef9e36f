// StarPU-MPI: every rank submits all tasks. A task runs where its output lives; StarPU sees from the data
// that tasks name which of them a rank has to send and receive, and orders messages and tasks alike.
#include <starpu_mpi.h>

#include <algorithm>
#include <deque>

#include "session.hpp"
#include "task_codelet.hpp"
#include "teff/bench/mpi_adapter.hpp"

namespace {

using namespace teff::bench;

/// The outputs of a graph's last two timesteps, known to StarPU on all ranks and held by the rank that runs
/// the column: that of timestep t is overwritten at t + 2.
class columns {
 public:
  /// `first_tag` is the first of 2 x width tags.
  columns(const task_graph& graph, const partition& blocks, int rank, std::int64_t first_tag)
      : width_(graph.width),
        bytes_(static_cast<std::size_t>(graph.output_bytes)),
        memory_(2 * static_cast<std::size_t>(width_) * bytes_),
        handles_(2 * static_cast<std::size_t>(width_)) {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const int home = blocks.owner(static_cast<std::int64_t>(i) % width_);
      const bool here = home == rank;  // elsewhere StarPU makes room when the data comes
      starpu_variable_data_register(&handles_[i], here ? STARPU_MAIN_RAM : -1,
                                    here ? reinterpret_cast<std::uintptr_t>(memory_.data() + i * bytes_) : 0,
                                    bytes_);
      starpu_mpi_data_register(handles_[i], first_tag + static_cast<std::int64_t>(i), home);
    }
  }
  columns(const columns&) = delete;
  columns& operator=(const columns&) = delete;
  ~columns() {
    for (const starpu_data_handle_t each : handles_) starpu_data_unregister(each);
  }

  [[nodiscard]] starpu_data_handle_t output(std::int64_t timestep, std::int64_t point) const {
    return handles_[static_cast<std::size_t>((timestep & 1) * width_ + point)];
  }

 private:
  std::int64_t width_;
  std::size_t bytes_;
  std::vector<std::byte> memory_;
  std::vector<starpu_data_handle_t> handles_;
};

void run_task(void* buffers[], void* argument) {
  task_name task;
  starpu_codelet_unpack_args(argument, &task);
  execute(task, buffers);
}

class mpi final : public mpi_adapter {
 public:
  explicit mpi(int workers) : mpi_adapter(workers), session_(std::max(1, local_workers())) {
    if (starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD) != 0)
      throw std::runtime_error("StarPU-MPI does not start");
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = run_task;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet_.name = "task";
  }
  ~mpi() override { starpu_mpi_shutdown(); }

  [[nodiscard]] identity describe() const override {
    identity who = identify("starpu", "mpi");
    who.version = starpu_version() + ", " + who.version;
    return who;
  }

 private:
  void prepare(workload& work) override {
    columns_.clear();
    steps_ = 0;
    std::int64_t tags = 0;
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      const task_graph& graph = work.graph(i);
      columns_.emplace_back(graph, partition(graph.width, describe().workers, ranks()), rank(), tags);
      tags += 2 * graph.width;
      steps_ = std::max(steps_, graph.steps);
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

  session session_;
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
