// MPI, point to point: a rank posts its receives a timestep ahead, sends an output the moment it is there,
// and before each task waits for that task's inputs alone. Ranks meet nowhere else.
#include <algorithm>
#include <array>

#include "messages.hpp"
#include "teff/bench/mpi_adapter.hpp"

namespace {

using namespace teff::bench;

/// One graph as this rank runs it.
class flow {
 public:
  flow(workload& work, std::size_t index, rank_columns columns, MPI_Comm ranks)
      : work_(&work), index_(index), columns_(std::move(columns)), ranks_(ranks) {
    for (auto& each : received_) each.resize(columns_.slots(), MPI_REQUEST_NULL);
    for (auto& each : sent_) each.reserve(columns_.max_sends());
    inputs_.reserve(columns_.table().max_inputs());
  }

  /// Asks for the outputs of a timestep, into the place of those of two timesteps before: all tasks that
  /// read those have to be done.
  void post_receives(std::int64_t timestep) {
    columns_.for_each_receive(timestep, [&](const crossing& message) {
      received_[timestep & 1][columns_.slot(message.point)] = receive(columns_, timestep, message, ranks_);
    });
  }

  void run(std::int64_t timestep) {
    if (timestep >= columns_.steps()) return;
    finish_sends(timestep);  // of two timesteps before, whose outputs are about to be overwritten
    columns_.for_each_point(timestep, [&](std::int64_t point) {
      inputs_.clear();
      for (const std::int64_t each : columns_.table().inputs(timestep, point)) {
        await(timestep - 1, each);
        inputs_.emplace_back(columns_.output(timestep - 1, each));
      }
      work_->worker(0).execute(index_, timestep, point, columns_.output(timestep, point), inputs_);
      columns_.for_each_send(timestep, point, [&](const crossing& message) {
        sent_[timestep & 1].push_back(send(columns_, timestep, message, ranks_));
      });
    });
    post_receives(timestep + 1);
  }

  /// Waits until the sends of this timestep's buffers have left them.
  void finish_sends(std::int64_t timestep) {
    std::vector<MPI_Request>& sent = sent_[timestep & 1];
    if (sent.empty()) return;
    MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
    sent.clear();
  }

 private:
  void await(std::int64_t timestep, std::int64_t point) {
    MPI_Request& request = received_[timestep & 1][columns_.slot(point)];
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  workload* work_;
  std::size_t index_;
  rank_columns columns_;
  MPI_Comm ranks_;
  std::array<std::vector<MPI_Request>, 2> received_;  ///< by parity of the timestep and by slot
  std::array<std::vector<MPI_Request>, 2> sent_;      ///< by parity of the timestep
  std::vector<input> inputs_;
};

class nonblocking final : public mpi_adapter {
 public:
  using mpi_adapter::mpi_adapter;

  [[nodiscard]] identity describe() const override { return identify("mpi", "nonblocking"); }

 private:
  void prepare(workload& work) override {
    flows_.clear();
    steps_ = 0;
    std::vector<rank_columns> columns = make_columns(work);
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      steps_ = std::max(steps_, columns[i].steps());
      flows_.emplace_back(work, i, std::move(columns[i]), communicators(work.graphs())[i]);
    }
  }

  void execute(workload& work) override {
    start(work);
    for (flow& each : flows_) each.post_receives(0);
    for (std::int64_t timestep = 0; timestep < steps_; ++timestep)
      for (flow& each : flows_) each.run(timestep);
    for (flow& each : flows_)
      for (const std::int64_t parity : {0, 1}) each.finish_sends(parity);
    stop(work);
  }

  std::vector<flow> flows_;
  std::int64_t steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<nonblocking>(); });
}
