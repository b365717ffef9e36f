// citor's parallelFor over the points of each timestep, whose end is the dependence.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pool.hpp"
#include "teff/bench/cores.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/timesteps.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class parallel_for final : public adapter {
 public:
  explicit parallel_for(int workers) : pool_(no_more_than_cores(workers, "citor")) {}

  [[nodiscard]] identity describe() const override { return pool_.describe("parallel_for"); }

  void run(workload& work) override {
    timesteps all(work);
    pool_.wake_all();
    work.start();
    for (std::int64_t timestep = 0; timestep < all.count(); ++timestep)
      pool_.get().parallelFor<citor::StaticHints>(0, all.columns(), [&](std::size_t first, std::size_t end) {
        const int worker = static_cast<int>(citor::ThreadPool::workerIndex());
        for (std::size_t column = first; column < end; ++column) all.execute(timestep, column, worker);
      });
    work.stop();
  }

 private:
  pool pool_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<parallel_for>(workers); });
}
