// Task graphs on a cluster that is not here: answers as any system's program does, with simulated times.
//
//   simulated_nodes MACHINE --workers N [FLAGS]...
//
// MACHINE is an object of JSON (machine.hpp). The lab makes it of a file of bench/networks.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "simulation.hpp"
#include "teff/graphs/adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class simulated_nodes final : public adapter {
 public:
  simulated_nodes(teff::simulated::machine on, int ranks)
      : on_(std::move(on)), ranks_(ranks), seed_(first_seed()) {}

  [[nodiscard]] identity describe() const override {
    return {.system = on_.system,
            .variant = "simulated",
            .version = on_.name,
            .workers = ranks_,
            .ranks = ranks_};
  }
  [[nodiscard]] int local_workers() const override { return 1; }

  void run(workload& work) override {
    work.start();
    work.note_isa("simulated");
    work.note_simulated(on_.is_peak ? compute_only(work, on_, ranks_) : simulate(work, on_, ranks_, seed_++));
    work.stop();
  }

 private:
  [[nodiscard]] std::uint64_t first_seed() const {
    if (on_.seed) return *on_.seed;
    std::random_device source;
    return std::uint64_t{source()} << 16;  // a number that JSON's readers keep
  }

  teff::simulated::machine on_;
  int ranks_;
  std::uint64_t seed_;  ///< of the next run: runs are independent
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw usage_error("the first word is a simulated machine, as JSON");
  const teff::simulated::machine on = teff::simulated::read_machine(argv[1]);
  argv[1] = argv[0];
  setenv("TEFF_RANKS", "2",
         1);  // its workers are ranks, of which there may be more than threads of a process
  return drive(argc - 1, argv + 1,
               [&](int workers) { return std::make_unique<simulated_nodes>(on, workers); });
} catch (const usage_error& failure) {
  fmt::print(stderr, "error: {}\n", failure.what());
  return 2;
}
