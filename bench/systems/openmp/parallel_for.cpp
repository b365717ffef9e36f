// OpenMP, bulk-synchronous: one work-shared loop over the points of each timestep, whose barrier is the
// dependence. One parallel region goes through all timesteps.
#include <omp.h>

#include "runtime.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class parallel_for final : public adapter {
 public:
  explicit parallel_for(int workers) : team_(start_team(workers)) {}

  [[nodiscard]] identity describe() const override { return identify("parallel_for", team_); }

  void run(workload& work) override {
    std::deque<kept_outputs> all = keep_outputs(work, 2);
    const std::int64_t steps = work.steps();
#pragma omp parallel
    {
      const int worker = omp_get_thread_num();
      bind_thread();
#pragma omp barrier
#pragma omp single
      work.start();
      for (std::int64_t timestep = 0; timestep < steps; ++timestep) {
        for (std::size_t index = 0; index < work.graphs(); ++index) {
          const interval points = work.table(index).points(timestep);
#pragma omp for schedule(static) nowait
          for (std::int64_t point = points.first; point <= points.last; ++point)
            execute(work, all[index], index, timestep, point, worker);
        }
#pragma omp barrier
      }
    }
    work.stop();
  }

 private:
  int team_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<parallel_for>(workers); }, cores());
}
