// MPI, point to point. A rank asks for each output a timestep ahead and sends its outputs the moment they are
// there. Before each task it waits for that task's inputs alone. Ranks meet nowhere else.
#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <optional>

#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// The size that MPI copies at once (Open MPI's limit in shared memory): MPI_Send then returns without
/// waiting for the receiver, and there is no request to finish. An MPI that copies less causes no deadlock. A
/// rank that waits in MPI_Send at timestep t waits for a rank that has not finished t - 1; the rank furthest
/// behind never waits.
constexpr std::size_t short_message = 4096;

/// One graph as this rank runs it.
class flow {
 public:
  flow(workload& work, std::size_t index, rank_columns columns, MPI_Comm ranks)
      : work_(&work), index_(index), columns_(std::move(columns)), ranks_(ranks) {
    for (const std::int64_t parity : {0, 1}) {
      receives_[parity].resize(columns_.slots());
      sent_[parity].reserve(columns_.max_sends());
      for (const crossing& each : columns_.remote()) {
        const auto into = columns_.output(parity, each.point);
        MPI_Recv_init(into.data(), static_cast<int>(into.size()), MPI_BYTE, each.peer, each.tag, ranks_,
                      &receives_[parity][columns_.slot(each.point)].request);
      }
    }
    awaited_.emplace(columns_.table(), columns_.own(), 2, std::bind_front(&flow::list_awaited, this));
  }
  flow(const flow&) = delete;
  flow& operator=(const flow&) = delete;
  ~flow() {
    for (auto& receives : receives_)
      for (receive& each : receives)
        if (each.request != MPI_REQUEST_NULL) MPI_Request_free(&each.request);
  }

  /// Asks for the outputs of a timestep, into the place of the outputs of two timesteps before: all tasks
  /// that read the old ones have to be done.
  void post_receives(std::int64_t timestep) {
    columns_.for_each_receive(timestep, [&](const crossing& message) {
      receive& due = receives_[timestep & 1][columns_.slot(message.point)];
      MPI_Start(&due.request);
      due.pending = true;
    });
  }

  void run(std::int64_t timestep) {
    if (timestep >= columns_.table().graph().steps) return;
    finish_sends(timestep);  // of two timesteps before, whose outputs are about to be overwritten
    columns_.for_each_point(timestep, [&](std::int64_t point) {
      for (receive* const each :
           awaited_->at(timestep, point, awaited_scratch_, std::bind_front(&flow::list_awaited, this)))
        await(*each);
      work_->worker(0).execute(index_, timestep, point, columns_.output(timestep, point),
                               columns_.inputs(timestep, point, inputs_scratch_));
      columns_.for_each_send(timestep, point, [&](const crossing& message) { send(timestep, message); });
    });
    post_receives(timestep + 1);
  }

  /// Waits until the sends from the buffers that this timestep uses have left them.
  void finish_sends(std::int64_t timestep) {
    std::vector<MPI_Request>& sent = sent_[timestep & 1];
    if (sent.empty()) return;
    MPI_Waitall(static_cast<int>(sent.size()), sent.data(), MPI_STATUSES_IGNORE);
    sent.clear();
  }

 private:
  /// Persistent: starting one again costs less than making one.
  struct receive {
    MPI_Request request = MPI_REQUEST_NULL;  ///< of a point of another rank
    bool pending = false;
  };

  /// Lists the inputs from other ranks that a task has to await.
  void list_awaited(std::int64_t timestep, std::int64_t point, std::vector<receive*>& awaited) {
    awaited.clear();
    for (const std::int64_t each : columns_.table().inputs(timestep, point))
      if (!columns_.own().contains(each))
        awaited.push_back(&receives_[(timestep - 1) & 1][columns_.slot(each)]);
  }
  static void await(receive& due) {
    if (!due.pending) return;
    MPI_Wait(&due.request, MPI_STATUS_IGNORE);
    due.pending = false;
  }

  void send(std::int64_t timestep, const crossing& message) {
    const auto from = columns_.output(timestep, message.point);
    const auto bytes = static_cast<int>(from.size());
    if (from.size() <= short_message) {
      MPI_Send(from.data(), bytes, MPI_BYTE, message.peer, message.tag, ranks_);
    } else {
      MPI_Isend(from.data(), bytes, MPI_BYTE, message.peer, message.tag, ranks_,
                &sent_[timestep & 1].emplace_back());
    }
  }

  workload* work_;
  std::size_t index_;
  rank_columns columns_;
  MPI_Comm ranks_;
  std::array<std::vector<receive>, 2> receives_;  ///< by parity of the timestep, then by slot
  std::array<std::vector<MPI_Request>, 2> sent_;  ///< by parity of the timestep
  std::optional<task_rows<std::vector<receive*>>> awaited_;
  std::vector<receive*> awaited_scratch_;
  std::vector<input> inputs_scratch_;
};

class nonblocking final : public mpi_adapter {
 public:
  using mpi_adapter::mpi_adapter;

  [[nodiscard]] identity describe() const override { return identify("mpi", "nonblocking"); }

 private:
  void prepare(workload& work) override {
    flows_.clear();
    steps_ = work.steps();
    std::vector<rank_columns> columns = make_columns(work);
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      flows_.emplace_back(work, i, std::move(columns[i]), communicator(i));
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

  std::deque<flow> flows_;
  std::int64_t steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<nonblocking>(); });
}
