// The ceiling: the rate of the kernels on all cores with no runtime at all, and how far apart the cores are.
// Pinned threads, each with its own points, no dependences; run it with -type trivial.
#include <vector>

#include "teff/bench/pinned_threads.hpp"
#include "teff/bench/round_trip.hpp"
#include "teff/graphs/adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class ceiling final : public adapter {
 public:
  explicit ceiling(int workers) : threads_(count_pinned_threads(workers)) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "ceiling", .variant = "pinned_threads", .version = "1", .workers = threads_};
  }

  void run(workload& work) override {
    for (std::size_t i = 0; i < work.graphs(); ++i)
      if (work.table(i).max_inputs() > 0)
        throw usage_error("the ceiling has no dependences: give it -type trivial");
    run_on_pinned_threads(threads_, [&] { work.start(); }, [&](int worker) { execute_share(work, worker); });
    work.stop();
    work.note_round_trip(measure_round_trip(threads_));
  }

 private:
  /// Every workers-th point of every timestep.
  void execute_share(workload& work, int worker) const {
    for (std::size_t index = 0; index < work.graphs(); ++index) {
      const task_graph& graph = work.graph(index);
      std::vector<std::byte> output(static_cast<std::size_t>(graph.output_bytes));
      for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep)
        for (std::int64_t point = worker; point < graph.width; point += threads_)
          work.worker(worker).execute(index, timestep, point, output, {});
    }
  }

  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<ceiling>(workers); });
}
