// teff::flow on each rank of an MPI job. All tasks name the outputs that they read and write. Some tasks send
// or receive by teff::mpi. Such a task ends when MPI has sent or received its output.
#include <teff/flow.hpp>

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "over_ranks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// MPI copies a message up to this size at once (Open MPI's limit in shared memory). The task that computes
/// such an output sends it. Another task sends a larger output, so the rank's next tasks do not wait for the
/// send.
constexpr std::size_t short_message = 4096;

class execution {
 public:
  execution(teff::runtime& rt, workload& work, const std::deque<rank_columns>& columns)
      : work_(work), columns_(columns), inputs_(rt.workers()), flow_(rt) {}

  void run() {
    for (std::int64_t timestep = 0; timestep < work_.steps(); ++timestep)
      for (std::size_t index = 0; index < columns_.size(); ++index) make(index, timestep);
    flow_.wait();
  }

 private:
  void make(std::size_t index, std::int64_t timestep) {
    const rank_columns& all = columns_[index];
    if (timestep >= all.table().graph().steps) return;
    all.for_each_point(timestep, [&](std::int64_t point) {
      const auto output = all.output(timestep, point);
      accesses_.clear();
      for (const auto& each : all.inputs(timestep, point, scratch_)) accesses_.push_back(teff::in(each));
      accesses_.push_back(teff::out(output));
      flow_.task(accesses_, [this, index, timestep, point] { compute(index, timestep, point); });
      if (output.size() <= short_message) return;
      all.for_each_send(timestep, point, [&](const crossing& message) {
        flow_.task(teff::in(output), [output, to = message.peer, tag = tag_of(index, timestep, message)] {
          teff::mpi::isend(output, to, tag);
        });
      });
    });
    all.for_each_receive(timestep, [&](const crossing& message) {
      const auto into = all.output(timestep, message.point);
      flow_.task(teff::out(into), [into, from = message.peer, tag = tag_of(index, timestep, message)] {
        teff::mpi::irecv(into, from, tag);
      });
    });
  }
  void compute(std::size_t index, std::int64_t timestep, std::int64_t point) {
    const rank_columns& all = columns_[index];
    const auto output = all.output(timestep, point);
    const unsigned worker = *teff::worker_index();
    work_.worker(static_cast<int>(worker))
        .execute(index, timestep, point, output, all.inputs(timestep, point, inputs_[worker].scratch));
    if (output.size() > short_message) return;
    all.for_each_send(timestep, point, [&](const crossing& message) {
      teff::mpi::isend(output, message.peer, tag_of(index, timestep, message));
    });
  }
  /// Two timesteps of a point may be under way. Accesses order all others.
  [[nodiscard]] int tag_of(std::size_t index, std::int64_t timestep, const crossing& message) const {
    return (message.tag * static_cast<int>(columns_.size()) + static_cast<int>(index)) * 2 +
           static_cast<int>(timestep & 1);
  }

  /// A worker's.
  struct alignas(128) own {
    std::vector<input> scratch;
  };

  workload& work_;
  const std::deque<rank_columns>& columns_;
  std::vector<own> inputs_;
  std::vector<input> scratch_;
  std::vector<teff::access> accesses_;
  teff::flow flow_;
};

class flow_adapter final : public over_ranks {
 public:
  explicit flow_adapter(int workers) : over_ranks("flow_mpi", workers) {}

 private:
  void prepare(workload& work) override {
    columns_.clear();
    for (auto& each : make_columns(work)) columns_.push_back(std::move(each));
  }
  void execute(workload& work) override {
    int argc = 0;
    char** argv = nullptr;
    const teff::mpi job(argc, argv);
    workers().run([&] {
      execution all(workers(), work, columns_);
      start(work);
      all.run();
      stop(work);
    });
  }

  std::deque<rank_columns> columns_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SERIALIZED,
                     [](int workers) { return std::make_unique<flow_adapter>(workers); });
}
