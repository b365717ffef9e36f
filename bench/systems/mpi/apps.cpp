// The mini-apps on MPI: a rank a core, and messages between the steps.
#include <mpi.h>

#include <cstdint>
#include <memory>

#include "teff/apps/drive_ranks.hpp"
#include "teff/apps/loops_over_ranks.hpp"

namespace {

using namespace teff::apps;

class ranks_system final : public system {
 public:
  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "mpi", .variant = "ranks"};
  }
  [[nodiscard]] bool has(way_kind how) const override { return how == way_kind::loops; }
  counts run_steps(way_kind /*how*/, std::int64_t /*parts*/, const program& steps,
                   teff::bench::region_meter& region) override {
    return run_loops_on_all_ranks(
        1, [](std::int64_t count, const auto& body) { body({0, count}); }, steps, region);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<ranks_system>(); });
}
