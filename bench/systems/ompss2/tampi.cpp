// OmpSs-2 over MPI ranks by TAMPI: messages are tasks, too. One task sends an output that it reads, another
// receives into an output that it writes. Both end at once, but their dependents wait until MPI is done with
// the memory.
#include <TAMPI.h>

#include <algorithm>
#include <optional>

#include "nodes_session.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A graph as this rank runs it.
struct part {
  workload& work;
  std::size_t index;
  rank_columns columns;
  MPI_Comm ranks;

  [[nodiscard]] std::span<const input> inputs(std::int64_t timestep, std::int64_t point) const {
    thread_local std::vector<input> scratch;
    return columns.inputs(timestep, point, scratch);
  }
};

void register_read(void* handler, std::span<const std::byte> read) {
  nanos6_register_read_depinfo(handler, const_cast<std::byte*>(read.data()), read.size(), 0);
}
void register_write(void* handler, std::span<std::byte> written) {
  nanos6_register_write_depinfo(handler, written.data(), written.size(), 1);
}

/// #pragma oss task in({*inputs[i], i = 0; count}) out(*output)
struct grid_task {
  const part* all;
  std::int64_t timestep;
  std::int64_t point;

  void operator()() const {
    all->work.worker(this_worker())
        .execute(all->index, timestep, point, all->columns.output(timestep, point),
                 all->inputs(timestep, point));
  }
  [[nodiscard]] std::size_t accesses() const { return all->inputs(timestep, point).size() + 1; }
  void register_accesses(void* handler) const {
    for (const input& each : all->inputs(timestep, point)) register_read(handler, each);
    register_write(handler, all->columns.output(timestep, point));
  }
};

/// An output on its way between two ranks. A column's outputs of odd timesteps may overtake its outputs of
/// even timesteps.
struct message {
  const part* all;
  std::int64_t timestep;
  crossing way;

  [[nodiscard]] std::span<std::byte> output() const { return all->columns.output(timestep, way.point); }
  [[nodiscard]] int bytes() const { return static_cast<int>(output().size()); }
  [[nodiscard]] int tag() const { return 2 * way.tag + static_cast<int>(timestep & 1); }
  [[nodiscard]] static std::size_t accesses() { return 1; }
};

/// #pragma oss task in(*output)
struct send : message {
  void operator()() const { TAMPI_Isend(output().data(), bytes(), MPI_BYTE, way.peer, tag(), all->ranks); }
  void register_accesses(void* handler) const { register_read(handler, output()); }
};

/// #pragma oss task out(*output)
struct receive : message {
  void operator()() const {
    TAMPI_Irecv(output().data(), bytes(), MPI_BYTE, way.peer, tag(), all->ranks, MPI_STATUS_IGNORE);
  }
  void register_accesses(void* handler) const { register_write(handler, output()); }
};

/// NODES, and TAMPI from start to end.
class tampi_session : public nodes_session {
 public:
  explicit tampi_session(int workers) : nodes_session(workers) {
    int given = 0;
    TAMPI_Init(MPI_THREAD_MULTIPLE, &given);
  }
  ~tampi_session() {
    run([] { TAMPI_Finalize(); });  // it waits as a task does
  }
  tampi_session(const tampi_session&) = delete;
  tampi_session& operator=(const tampi_session&) = delete;
};

/// Every rank has a worker at least.
class tampi final : public mpi_adapter {
 public:
  explicit tampi(int workers) : tampi(workers, ranks_of_job()) {}

  [[nodiscard]] identity describe() const override {
    return identify("ompss2", "tampi", nodes_session::release() + ", TAMPI " TEFF_TAMPI_VERSION);
  }

 private:
  tampi(int workers, int ranks) : mpi_adapter(std::max(workers, ranks)) {
    together([&] { session_.emplace(local_workers()); });
    saw_workers(nodes_session::workers());
  }
  static int ranks_of_job() {
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return ranks;
  }

  void prepare(workload& work) override {
    parts_.clear();
    std::vector<rank_columns> columns = make_columns(work);
    for (std::size_t i = 0; i < work.graphs(); ++i)
      parts_.push_back({work, i, std::move(columns[i]), communicator(i)});
  }

  void execute(workload& work) override {
    session_->run([&] {
      start(work);
      create_all(work.steps());
      taskwait();
      stop(work);
    });
  }

  void create_all(std::int64_t steps) const {
    creator all;
    for (std::int64_t timestep = 0; timestep < steps; ++timestep)
      for (const part& each : parts_) {
        each.columns.for_each_point(timestep, [&](std::int64_t point) {
          all.create(grid_task{&each, timestep, point});
          each.columns.for_each_send(timestep, point,
                                     [&](const crossing& way) { all.create(send{{&each, timestep, way}}); });
        });
        each.columns.for_each_receive(
            timestep, [&](const crossing& way) { all.create(receive{{&each, timestep, way}}); });
      }
  }

  std::optional<tampi_session> session_;
  std::deque<part> parts_;
};

}  // namespace

int main(int argc, char** argv) {
  // Not when MPI starts: TAMPI runs its own tasks, on NODES, which has as many workers as the flags say.
  TAMPI_Property_set(TAMPI_PROPERTY_AUTO_INIT, 0);
  return drive_ranks(argc, argv, MPI_THREAD_MULTIPLE,
                     [](int workers) { return std::make_unique<tampi>(workers); });
}
