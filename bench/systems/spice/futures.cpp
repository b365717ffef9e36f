// Spice's futures over the columns of each timestep, in timesteps.zig; their bodies and their driver are C++.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "teff/bench/cores.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/timesteps.hpp"

using teff::graphs::timesteps;

extern "C" {
std::int32_t spice_start(std::int32_t workers);  ///< of timesteps.zig, as the next two
void spice_run(timesteps* all, std::int64_t count, std::int64_t columns);
const char* spice_zig_version();

void spice_pin(std::int32_t worker) {
  teff::bench::bind_to_core(worker);
}

void spice_execute(timesteps* all, std::int64_t timestep, std::int64_t column) {
  // Spice's threads have no numbers. There are as many as workers, and they stay until the process ends.
  static std::atomic<int> threads = 0;  // relaxed: it orders nothing else
  thread_local const int worker = threads.fetch_add(1, std::memory_order_relaxed);
  all->execute(timestep, static_cast<std::size_t>(column), worker);
}
}

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class futures final : public adapter {
 public:
  explicit futures(int workers) : threads_(spice_start(workers)) {}

  /// Spice has no versions yet.
  [[nodiscard]] identity describe() const override {
    return {.system = "spice",
            .variant = "futures",
            .version = std::string("Zig ") + spice_zig_version(),
            .workers = threads_};
  }

  void run(workload& work) override {
    timesteps all(work);
    work.start();
    spice_run(&all, all.count(), static_cast<std::int64_t>(all.columns()));
    work.stop();
  }

 private:
  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<futures>(workers); });
}
