// The ceiling of several nodes: a rank on each, which runs the kernels as the ceiling of one machine does. A
// run ends when the slowest node is done, so its rate is that of the slowest node times the nodes.
#include "ceiling_share.hpp"
#include "teff/bench/pinned_threads.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class ceiling_over_nodes final : public mpi_adapter {
 public:
  explicit ceiling_over_nodes(int workers) : mpi_adapter(workers) {
    saw_workers(count_pinned_threads(local_workers()));
  }

  [[nodiscard]] identity describe() const override { return identify("ceiling", "pinned_threads_of_ranks"); }

 private:
  void prepare(workload& work) override {
    expect_no_dependences(work);
    columns_ = make_columns(work);
  }

  void execute(workload& work) override {
    run_on_pinned_threads(
        local_workers(), [&] { start(work); },
        [&](int worker) {
          for (std::size_t i = 0; i < work.graphs(); ++i)
            execute_share(work, i, columns_[i].own(), worker, local_workers());
        });
    stop(work);
  }

  std::vector<rank_columns> columns_;
};

}  // namespace

int main(int argc, char** argv) {
  // The thread that is ready last starts the timed region.
  return drive_ranks(argc, argv, MPI_THREAD_SERIALIZED,
                     [](int workers) { return std::make_unique<ceiling_over_nodes>(workers); });
}
