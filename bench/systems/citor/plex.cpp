// citor's plex, a phase a timestep: each worker has the same columns in all phases, and the end of a phase is
// the dependence. Workers spin from phase to phase and are not dispatched again.
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

class plex final : public adapter {
 public:
  explicit plex(int workers) : pool_(no_more_than_cores(workers, "citor")) {}

  [[nodiscard]] identity describe() const override { return pool_.describe("plex"); }

  void run(workload& work) override {
    timesteps all(work);
    pool_.wake_all();
    work.start();
    pool_.get().runPlex<citor::StaticHints>(
        static_cast<std::size_t>(all.count()), all.columns(),
        [&](std::size_t timestep, std::uint32_t worker, std::size_t first, std::size_t end) {
          for (std::size_t column = first; column < end; ++column)
            all.execute(static_cast<std::int64_t>(timestep), column, static_cast<int>(worker));
        });
    work.stop();
  }

 private:
  pool pool_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<plex>(workers); });
}
