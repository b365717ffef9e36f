// MPI, bulk-synchronous: supersteps. All outputs of a timestep cross at once, all ranks meet, all compute.
#include <algorithm>

#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class bulk_synchronous final : public mpi_adapter {
 public:
  using mpi_adapter::mpi_adapter;

  [[nodiscard]] identity describe() const override { return identify("mpi", "bulk_synchronous"); }

 private:
  void prepare(workload& work) override {
    columns_.clear();  // of the run before: two need not fit
    columns_ = make_columns(work);
    steps_ = work.steps();
    const std::size_t messages = most_messages(columns_);
    requests_.reserve(messages);
  }

  void execute(workload& work) override {
    start(work);
    for (std::int64_t timestep = 0; timestep < steps_; ++timestep) {
      for (std::size_t i = 0; i < columns_.size(); ++i) compute(work, i, timestep);
      exchange(timestep);
    }
    stop(work);
  }

  void compute(workload& work, std::size_t index, std::int64_t timestep) {
    rank_columns& columns = columns_[index];
    columns.for_each_point(timestep, [&](std::int64_t point) {
      work.worker(0).execute(index, timestep, point, columns.output(timestep, point),
                             columns.inputs(timestep, point, scratch_));
    });
  }

  /// Brings a timestep's outputs of all graphs to the ranks that read them, and all ranks together.
  void exchange(std::int64_t timestep) {
    requests_.clear();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      rank_columns& columns = columns_[i];
      const MPI_Comm ranks = communicator(i);
      columns.for_each_receive(timestep, [&](const crossing& message) {
        const auto into = columns.output(timestep, message.point);
        MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, message.peer, message.tag, ranks,
                  &requests_.emplace_back());
      });
      columns.for_each_point(timestep, [&](std::int64_t point) {
        columns.for_each_send(timestep, point, [&](const crossing& message) {
          const auto from = columns.output(timestep, message.point);
          MPI_Isend(from.data(), static_cast<int>(from.size()), MPI_BYTE, message.peer, message.tag, ranks,
                    &requests_.emplace_back());
        });
      });
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  std::vector<rank_columns> columns_;
  std::int64_t steps_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<input> scratch_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<bulk_synchronous>(); });
}
