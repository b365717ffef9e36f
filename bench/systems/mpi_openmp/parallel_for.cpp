// MPI between nodes, OpenMP within one: the threads of a rank share the points of each timestep; the main
// thread then brings what crosses (MPI_THREAD_FUNNELED). A rank that nothing crosses has one barrier a
// timestep.
#include <omp.h>

#include <algorithm>

#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class parallel_for final : public mpi_adapter {
 public:
  explicit parallel_for(int workers) : mpi_adapter(workers) {
    omp_set_dynamic(0);
    omp_set_num_threads(
        std::max(1, local_workers()));  // where there are fewer workers than ranks: an idle one
    int started = 0;
#pragma omp parallel
#pragma omp single
    started = omp_get_num_threads();
    saw_workers(std::min(started, local_workers()));
  }

  [[nodiscard]] identity describe() const override {
    identity who = identify("mpi_openmp", "parallel_for");
    who.version += ", OpenMP " + std::to_string(_OPENMP);
    who.limits = "OMP_THREAD_LIMIT or OMP_MAX_ACTIVE_LEVELS";
    return who;
  }

 private:
  void prepare(workload& work) override {
    columns_.clear();  // of the run before: two need not fit
    columns_ = make_columns(work);
    steps_ = work.steps();
    const std::size_t messages = most_messages(columns_);
    crosses_ = messages > 0;
    requests_.clear();
    requests_.reserve(messages);
  }

  void execute(workload& work) override {
#pragma omp parallel
    {
#pragma omp master
      {
        start(work);
        post_receives(0);
      }
#pragma omp barrier
      for (std::int64_t timestep = 0; timestep < steps_; ++timestep) {
        for (std::size_t i = 0; i < columns_.size(); ++i) compute(work, i, timestep);
#pragma omp barrier
        if (!crosses_) continue;
#pragma omp master
        exchange(timestep);
#pragma omp barrier
      }
    }
    stop(work);
  }

  void compute(workload& work, std::size_t index, std::int64_t timestep) {
    rank_columns& columns = columns_[index];
    const interval points = columns.own().clipped_to(columns.table().points(timestep));
    thread_local std::vector<input> scratch;
#pragma omp for schedule(static) nowait
    for (std::int64_t point = points.first; point <= points.last; ++point)
      work.worker(omp_get_thread_num())
          .execute(index, timestep, point, columns.output(timestep, point),
                   columns.inputs(timestep, point, scratch));
  }

  /// Completes the messages of a timestep, then posts the receives of the next, into the place of the
  /// timestep before: all tasks that read those outputs are done.
  void exchange(std::int64_t timestep) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      rank_columns& columns = columns_[i];
      columns.for_each_point(timestep, [&](std::int64_t point) {
        columns.for_each_send(timestep, point, [&](const crossing& message) {
          const auto from = columns.output(timestep, message.point);
          MPI_Isend(from.data(), static_cast<int>(from.size()), MPI_BYTE, message.peer, message.tag,
                    communicator(i), &requests_.emplace_back());
        });
      });
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    post_receives(timestep + 1);
  }

  void post_receives(std::int64_t timestep) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      rank_columns& columns = columns_[i];
      columns.for_each_receive(timestep, [&](const crossing& message) {
        const auto into = columns.output(timestep, message.point);
        MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, message.peer, message.tag,
                  communicator(i), &requests_.emplace_back());
      });
    }
  }

  std::vector<rank_columns> columns_;
  std::int64_t steps_ = 0;
  bool crosses_ = false;  ///< whether any output of this rank's, or any that it reads, ever does
  std::vector<MPI_Request> requests_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_FUNNELED,
                     [](int workers) { return std::make_unique<parallel_for>(workers); });
}
