// Lace's tasks by halves: all columns of a timestep are one task, which spawns one of its halves and calls
// the other, down to one column. Its end is the dependence. Lace waits for a task in the task that spawned
// it, and in the reverse order of spawning. So a task can't be left to its last predecessor.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "library.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/timesteps.hpp"

using teff::graphs::timesteps;

VOID_TASK_4(halves, timesteps*, all, std::int64_t, timestep, std::size_t, first, std::size_t, end) {
  if (end - first == 1) {
    all->execute(timestep, first, LACE_WORKER_ID);
  } else {
    const std::size_t middle = first + (end - first) / 2;
    SPAWN(halves, all, timestep, middle, end);
    CALL(halves, all, timestep, first, middle);
    SYNC(halves);
  }
}

VOID_TASK_1(one_after_another, timesteps*, all) {
  all->work().start();
  for (std::int64_t timestep = 0; timestep < all->count(); ++timestep)
    CALL(halves, all, timestep, std::size_t{0}, all->columns());
  all->work().stop();
}

namespace {

using namespace teff::bench;
using namespace teff::graphs;

// A path of halves down to one column has at most one waiting task a level.
constexpr std::size_t deque_size = 1024;

class fork_join final : public adapter {
 public:
  explicit fork_join(int workers) : library_(workers, deque_size) {}

  [[nodiscard]] identity describe() const override { return library::describe("fork_join"); }

  void run(workload& work) override {
    timesteps all(work);
    RUN(one_after_another, &all);
  }

 private:
  library library_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<fork_join>(workers); });
}
