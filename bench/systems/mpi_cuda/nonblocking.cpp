// MPI and CUDA: a rank has a GPU, or shares one, on which the kernels of its tasks run. It gives the GPU all
// tasks of a timestep as their inputs come, and sends the output of each on as its kernel ends. Outputs lie
// in memory of the host to which the GPU writes, and go to other ranks from there: the MPI need not know of
// GPUs.
#include <array>
#include <cstring>
#include <deque>

#include "gpu.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// One graph as this rank runs it.
class flow {
 public:
  flow(workload& work, std::size_t index, rank_columns columns, MPI_Comm ranks, teff::gpu::device& on)
      : work_(&work),
        index_(index),
        columns_(std::move(columns)),
        ranks_(ranks),
        tasks_(on, work.graph(index), static_cast<std::size_t>(columns_.own().size())) {
    for (const std::int64_t parity : {0, 1}) {
      received_[parity].resize(columns_.slots(), MPI_REQUEST_NULL);
      sent_[parity].reserve(columns_.max_sends());
    }
  }

  /// Asks for the outputs of a timestep, into the place of the outputs of two timesteps before: all tasks
  /// that read the old ones have to be begun.
  void post_receives(std::int64_t timestep) {
    columns_.for_each_receive(timestep, [&](const crossing& message) {
      const auto into = columns_.output(timestep, message.point);
      MPI_Irecv(into.data(), static_cast<int>(into.size()), MPI_BYTE, message.peer, message.tag, ranks_,
                &received_[timestep & 1][columns_.slot(message.point)]);
    });
  }

  /// Gives the GPU the tasks of a timestep, each when its inputs are there.
  void launch(std::int64_t timestep) {
    columns_.for_each_point(timestep, [&](std::int64_t point) {
      for (const std::int64_t each : columns_.table().inputs(timestep, point))
        if (!columns_.own().contains(each))
          MPI_Wait(&received_[(timestep - 1) & 1][columns_.slot(each)], MPI_STATUS_IGNORE);
      const std::int64_t iterations =
          work_->worker(0).begin(index_, timestep, point, columns_.inputs(timestep, point, inputs_scratch_));
      tasks_.launch(columns_.slot(point), timestep, point, iterations);
    });
    post_receives(timestep + 1);
  }

  /// Sends each of their outputs on when it is there.
  void finish(std::int64_t timestep) {
    finish_sends(timestep);  // of two timesteps before, whose outputs are about to be overwritten
    columns_.for_each_point(timestep, [&](std::int64_t point) {
      const teff::gpu::landed task = tasks_.wait(columns_.slot(point));
      const auto output = columns_.output(timestep, point);
      std::memcpy(output.data(), task.output.data(), output.size());
      work_->worker(0).end(index_, timestep, point, output, task.computed);
      columns_.for_each_send(timestep, point, [&](const crossing& message) {
        MPI_Isend(output.data(), static_cast<int>(output.size()), MPI_BYTE, message.peer, message.tag, ranks_,
                  &sent_[timestep & 1].emplace_back());
      });
    });
  }

  /// Waits until the sends from the buffers that this timestep uses have left them.
  void finish_sends(std::int64_t timestep) {
    std::vector<MPI_Request>& sent = sent_[timestep & 1];
    MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
    sent.clear();
  }

 private:
  workload* work_;
  std::size_t index_;
  rank_columns columns_;
  MPI_Comm ranks_;
  teff::gpu::tasks tasks_;                            ///< an own column has its slot's place
  std::array<std::vector<MPI_Request>, 2> received_;  ///< by parity of the timestep, then by slot
  std::array<std::vector<MPI_Request>, 2> sent_;      ///< by parity of the timestep
  std::vector<input> inputs_scratch_;
};

/// This rank's number among the ranks of its machine, which share its GPUs.
int rank_here() {
  MPI_Comm here = MPI_COMM_NULL;
  int rank = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_rank(here, &rank);
  MPI_Comm_free(&here);
  return rank;
}

class nonblocking final : public mpi_adapter {
 public:
  explicit nonblocking(int rank_here) : gpu_(rank_here % teff::gpu::count_gpus()) {}

  [[nodiscard]] identity describe() const override {
    return identify("mpi_cuda", "nonblocking", gpu_.version());
  }

 private:
  void prepare(workload& work) override {
    flows_.clear();
    teff::gpu::refuse_other_kernels(work);
    work.note_isa(gpu_.isa());
    steps_ = work.steps();
    std::vector<rank_columns> columns = make_columns(work);
    for (std::size_t i = 0; i < work.graphs(); ++i)
      flows_.emplace_back(work, i, std::move(columns[i]), communicator(i), gpu_);
  }

  void execute(workload& work) override {
    start(work);
    for (flow& each : flows_) each.post_receives(0);
    for (std::int64_t timestep = 0; timestep < steps_; ++timestep) {
      for (flow& each : flows_) each.launch(timestep);
      for (flow& each : flows_) each.finish(timestep);
    }
    for (flow& each : flows_)
      for (const std::int64_t parity : {0, 1}) each.finish_sends(parity);
    stop(work);
  }

  teff::gpu::device gpu_;
  std::deque<flow> flows_;
  std::int64_t steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE,
                     [](int) { return std::make_unique<nonblocking>(rank_here()); });
}
