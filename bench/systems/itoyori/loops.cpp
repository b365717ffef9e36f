// For each timestep a parallel loop over the columns of all graphs, whose iterations are tasks that any rank
// may steal. Outputs of two timesteps lie in global memory: a task checks out its inputs to read them, and
// its output to write it.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <ityr/ityr.hpp>

#include "teff/graphs/columns.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// The workload on this rank: a task looks here, because a pointer of another rank is not valid here.
workload* running = nullptr;
std::vector<column> columns;

/// The outputs of a graph's last two timesteps.
struct outputs {
  explicit outputs(const task_graph& graph)
      : width(graph.width),
        bytes(static_cast<std::size_t>(graph.output_bytes)),
        memory(ityr::global_vector_options(true), 2 * static_cast<std::size_t>(width) * bytes) {}

  [[nodiscard]] ityr::global_span<std::byte> of(std::int64_t timestep, std::int64_t point) {
    return {memory.begin() + (timestep & 1) * width * static_cast<std::ptrdiff_t>(bytes) +
                point * static_cast<std::ptrdiff_t>(bytes),
            bytes};
  }

  std::int64_t width;
  std::size_t bytes;
  ityr::global_vector<std::byte> memory;
};
std::deque<outputs> outputs_of;  ///< by graph

void execute_task(const column& here, std::int64_t timestep) {
  const dependence_table& table = running->table(here.graph);
  if (!table.points(timestep).contains(here.point)) return;
  outputs& kept = outputs_of[here.graph];
  const auto made = ityr::make_checkout(kept.of(timestep, here.point), ityr::checkout_mode::write);
  std::vector<decltype(ityr::make_checkout(kept.of(0, 0), ityr::checkout_mode::read))> read;
  std::vector<input> inputs;
  for (const std::int64_t each : table.inputs(timestep, here.point)) {
    read.push_back(ityr::make_checkout(kept.of(timestep - 1, each), ityr::checkout_mode::read));
    inputs.emplace_back(read.back().data(), kept.bytes);
  }
  running->worker(0).execute(here.graph, timestep, here.point, {made.data(), kept.bytes}, inputs);
}

/// By the root thread, which any rank may go on with after a loop.
void run_timesteps() {
  const std::int64_t steps = running->steps();
  for (std::int64_t timestep = 0; timestep < steps; ++timestep)
    ityr::for_each(ityr::execution::par, ityr::count_iterator<std::size_t>(0),
                   ityr::count_iterator<std::size_t>(columns.size()),
                   [timestep](std::size_t i) { execute_task(columns[i], timestep); });
}

class loops final : public mpi_adapter {
 public:
  loops() { ityr::init(); }
  ~loops() override { ityr::fini(); }
  loops(const loops&) = delete;
  loops& operator=(const loops&) = delete;

  [[nodiscard]] identity describe() const override {
    return identify("itoyori", "loops", "Itoyori " TEFF_ITOYORI_VERSION);
  }

 private:
  void prepare(workload& work) override {
    running = &work;
    columns = columns_of(work);
  }
  void execute(workload& work) override {
    for (std::size_t i = 0; i < work.graphs(); ++i) outputs_of.emplace_back(work.graph(i));
    start(work);
    ityr::root_exec(run_timesteps);
    stop(work);
    outputs_of.clear();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<loops>(); });
}
