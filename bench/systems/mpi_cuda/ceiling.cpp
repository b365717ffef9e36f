// The ceiling of kernels on GPUs: each worker keeps a few tasks on its GPU all the time, with no dependences
// and no MPI. Workers share the GPUs as the ranks do; run it with -type trivial.
#include <deque>
#include <exception>
#include <vector>

#include "gpu.hpp"
#include "teff/bench/pinned_threads.hpp"
#include "teff/bench/round_trip.hpp"
#include "teff/graphs/adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

constexpr std::size_t depth = 4;  // tasks on their way: while one ends, others run

class ceiling final : public adapter {
 public:
  explicit ceiling(int workers) : threads_(count_pinned_threads(workers)) {
    const int gpus = teff::gpu::count_gpus();
    for (int worker = 0; worker < workers; ++worker) gpus_.emplace_back(worker % gpus);
  }

  [[nodiscard]] identity describe() const override {
    return {
        .system = "mpi_cuda", .variant = "ceiling", .version = gpus_.front().version(), .workers = threads_};
  }

  void run(workload& work) override {
    teff::gpu::refuse_other_kernels(work);
    for (std::size_t i = 0; i < work.graphs(); ++i)
      if (work.table(i).max_inputs() > 0)
        throw usage_error("the ceiling has no dependences: give it -type trivial");
    work.note_isa(gpus_.front().isa());
    std::deque<std::deque<teff::gpu::tasks>> rings(gpus_.size());
    for (std::size_t worker = 0; worker < gpus_.size(); ++worker) {
      gpus_[worker].use();
      for (std::size_t i = 0; i < work.graphs(); ++i)
        rings[worker].emplace_back(gpus_[worker], work.graph(i), depth);
    }
    std::vector<std::exception_ptr> failures(gpus_.size());
    run_on_pinned_threads(
        threads_, [&] { work.start(); },
        [&](int worker) {
          const auto own = static_cast<std::size_t>(worker);
          try {
            gpus_[own].use();
            for (std::size_t i = 0; i < work.graphs(); ++i) execute_share(work, i, worker, rings[own][i]);
          } catch (...) {
            failures[own] = std::current_exception();
          }
        });
    work.stop();
    for (const std::exception_ptr& each : failures)
      if (each) std::rethrow_exception(each);
    work.note_round_trip(measure_round_trip(threads_));
  }

 private:
  /// Every workers-th point of every timestep.
  void execute_share(workload& work, std::size_t index, int worker, teff::gpu::tasks& ring) const {
    const task_graph& graph = work.graph(index);
    class worker& own = work.worker(worker);
    std::size_t launched = 0;
    const auto finish = [&](std::size_t turn) {
      const teff::gpu::landed task = ring.wait(turn % depth);
      own.end(index, task.timestep, task.point, task.output, task.computed);
    };
    for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep)
      for (std::int64_t point = worker; point < graph.width; point += threads_) {
        if (launched >= depth) finish(launched - depth);
        const std::int64_t iterations = own.begin(index, timestep, point, {});
        ring.launch(launched++ % depth, timestep, point, iterations);
      }
    for (std::size_t turn = launched - std::min(launched, depth); turn < launched; ++turn) finish(turn);
  }

  int threads_;
  std::deque<teff::gpu::device> gpus_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<ceiling>(workers); });
}
