// The mini-apps on StarPU-MPI: every rank submits all tasks, and a task runs where its tile lives. StarPU
// sends and receives what tasks read.
#include <starpu_mpi.h>

#include <memory>

#include "teff/apps/drive_ranks.hpp"
#include "tile_tasks.hpp"

namespace {

class mpi_system final : public tile_tasks {
 public:
  mpi_system() {
    if (starpu_mpi_init_comm(nullptr, nullptr, 0, MPI_COMM_WORLD) != 0)
      throw std::runtime_error("StarPU-MPI does not start");
  }
  ~mpi_system() override {
    starpu_resume();
    starpu_mpi_shutdown();
    starpu_pause();
  }

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "starpu", .variant = "mpi", .version = starpu_version()};
  }

 private:
  void is_of(starpu_data_handle_t tile, int owner) override {
    starpu_mpi_data_register(tile, next_tag_++, owner);
  }
  void insert(work what, std::span<starpu_data_descr> accesses, int priority) override {
    if (starpu_mpi_task_insert(MPI_COMM_WORLD, &codelet(), STARPU_VALUE, &what, sizeof(what),
                               STARPU_DATA_MODE_ARRAY, accesses.data(), static_cast<int>(accesses.size()),
                               STARPU_PRIORITY, priority, 0) != 0)
      throw std::runtime_error("StarPU-MPI does not take a task");
  }
  void wait() override {
    starpu_task_wait_for_all();
    starpu_mpi_wait_for_all(MPI_COMM_WORLD);
    starpu_mpi_barrier(MPI_COMM_WORLD);
  }

  session session_{1};
  starpu_mpi_tag_t next_tag_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return teff::apps::drive_ranks(argc, argv, MPI_THREAD_MULTIPLE,
                                 [](int) { return std::make_unique<mpi_system>(); });
}
