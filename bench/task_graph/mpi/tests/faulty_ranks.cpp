// An adapter of which one rank fails at the place in TEFF_FAULT: "start", "workload" (too little memory for
// its scratch), "prepare", "execute" or "killed". All but "start" fail at a graph with outputs of more than
// 16 bytes.
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "teff/graphs/mpi_adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

constexpr int failing_rank = 1;

/// Leaves this process so many bytes more of address space than it has.
void limit_memory(std::uint64_t more) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * 4096 + more, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

class faulty_ranks final : public mpi_adapter {
 public:
  faulty_ranks() {
    const char* const asked = std::getenv("TEFF_FAULT");
    if (asked != nullptr && rank() == failing_rank) fault_ = asked;
    if (fault_ == "start") throw std::runtime_error("no start");
    if (fault_ == "workload") limit_memory(std::uint64_t{64} << 20);
  }

  [[nodiscard]] identity describe() const override { return identify("faulty", "ranks"); }

 private:
  void prepare(workload& work) override {
    if (fails(work, "prepare")) throw std::runtime_error("nothing is ready");
  }

  void execute(workload& work) override {
    start(work);
    if (fails(work, "execute")) throw std::runtime_error("no way on");
    if (fails(work, "killed")) {
      std::fputs("rank 1 is killed\n", stderr);
      std::raise(SIGKILL);
    }
    const task_graph& graph = work.graph(0);
    std::vector<std::byte> output(static_cast<std::size_t>(graph.output_bytes));
    for (std::int64_t timestep = 0; timestep < graph.steps; ++timestep)
      for (std::int64_t point = rank(); point < graph.width; point += ranks())
        work.worker(0).execute(0, timestep, point, output, {});
    stop(work);
  }

  [[nodiscard]] bool fails(const workload& work, std::string_view here) const {
    return fault_ == here && work.graph(0).output_bytes > 16;
  }

  std::string fault_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<faulty_ranks>(); });
}
