// Kokkos, bulk-synchronous: each timestep is one parallel_for over its points on the host's threads, and a
// fence as the dependence.
#include <cstdint>
#include <deque>
#include <vector>

#include "host.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/columns.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class parallel_for final : public adapter {
 public:
  explicit parallel_for(int workers) : host_(workers) {}

  [[nodiscard]] identity describe() const override { return host_.describe("parallel_for"); }

  void run(workload& work) override {
    using points_of_a_timestep =
        Kokkos::RangePolicy<host::space, Kokkos::Schedule<Kokkos::Static>, Kokkos::IndexType<std::int64_t>>;
    std::deque<kept_outputs> all = keep_outputs(work, 2);
    const std::vector<column> columns = columns_of(work);
    const points_of_a_timestep each(0, static_cast<std::int64_t>(columns.size()));
    const std::int64_t steps = work.steps();
    const Kokkos::Experimental::UniqueToken<host::space> threads;
    work.start();
    for (std::int64_t timestep = 0; timestep < steps; ++timestep) {
      Kokkos::parallel_for(each, [&](std::int64_t i) {
        const column& of = columns[static_cast<std::size_t>(i)];
        if (!work.table(of.graph).points(timestep).contains(of.point)) return;
        const int thread = threads.acquire();
        execute(work, all[of.graph], of.graph, timestep, of.point, thread);
        threads.release(thread);
      });
      Kokkos::fence();
    }
    work.stop();
  }

 private:
  host host_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<parallel_for>(workers); });
}
