// The mini-apps on MPI between ranks and OpenMP within: the threads of a rank share each step, and its main
// thread brings the messages between the steps (MPI_THREAD_FUNNELED).
#include <mpi.h>
#include <omp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "teff/apps/drive_ranks.hpp"
#include "teff/apps/loops_over_ranks.hpp"

namespace {

using namespace teff::apps;

class ranks_system final : public system {
 public:
  explicit ranks_system(int workers) {
    omp_set_dynamic(0);
    omp_set_num_threads(workers);
#pragma omp parallel
#pragma omp single
    threads_ = omp_get_num_threads();
  }

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "mpi_openmp",
            .variant = "loops",
            .version = "OpenMP " + std::to_string(_OPENMP),
            .workers = threads_,
            .limits = "OMP_THREAD_LIMIT or OMP_MAX_ACTIVE_LEVELS"};
  }
  [[nodiscard]] bool has(way_kind how) const override { return how == way_kind::loops; }
  counts run_steps(way_kind /*how*/, std::int64_t /*parts*/, const program& steps,
                   teff::bench::region_meter& region) override {
    const auto loop = [](std::int64_t count, const auto& body) {
#pragma omp parallel
      {
        const cut all(count, omp_get_num_threads());
        if (const int thread = omp_get_thread_num(); thread < all.parts()) body(all.part(thread));
      }
    };
    return run_loops_on_all_ranks(threads_, loop, steps, region);
  }

 private:
  int threads_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_FUNNELED,
                     [](int workers) { return std::make_unique<ranks_system>(workers); });
}
