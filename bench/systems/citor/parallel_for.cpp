// citor's parallelFor over the points of each timestep, whose end is the dependence.
#include <citor/hints.h>
#include <citor/thread_pool.h>
#include <citor/version.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "teff/bench/cores.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/timesteps.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class parallel_for final : public adapter {
 public:
  explicit parallel_for(int workers)
      : pool_(static_cast<std::size_t>(no_more_than_cores(workers, "citor"))) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "citor",
            .variant = "parallel_for",
            .version = CITOR_VERSION_STRING,
            .workers = static_cast<int>(pool_.participants())};
  }

  void run(workload& work) override {
    timesteps all(work);
    pool_.parallelFor<citor::StaticHints>(0, pool_.participants(), [](std::size_t, std::size_t) {});
    work.start();
    for (std::int64_t timestep = 0; timestep < all.count(); ++timestep)
      pool_.parallelFor<citor::StaticHints>(0, all.columns(), [&](std::size_t first, std::size_t end) {
        const int worker = static_cast<int>(citor::ThreadPool::workerIndex());
        for (std::size_t column = first; column < end; ++column) all.execute(timestep, column, worker);
      });
    work.stop();
  }

 private:
  citor::ThreadPool pool_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<parallel_for>(workers); });
}
