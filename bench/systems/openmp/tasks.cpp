// OpenMP tasks with depend clauses: one thread creates all tasks, the runtime orders them by the output
// buffers they name.
#include <omp.h>

#include <atomic>
#include <vector>

#include "runtime.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

// A task that overwrites an output waits for its readers. With two timesteps kept, these are the tasks just
// created. With eight they are done by then, and an edge to a finished task costs less.
constexpr std::int64_t kept = 8;

// The runtimes bound those tasks only that are ready to run: thousands wait for others, and libgomp's time to
// create one grows with them. So the creating thread waits after so many tasks a worker, at most each so many
// timesteps, and leaves the last ones to the others meanwhile. Of a wide timestep, with so many points a
// worker, enough are ready.
constexpr std::int64_t created_ahead = 16;
constexpr std::int64_t wide = 128;
constexpr std::int64_t left_ahead = 4;
static_assert(left_ahead < kept);

class tasks final : public adapter {
 public:
  explicit tasks(int workers) : team_(start_team(workers)) {}

  [[nodiscard]] identity describe() const override { return identify("tasks", team_); }

  void run(workload& work) override {
    std::deque<kept_outputs> all = keep_outputs(work, kept);
    const std::int64_t steps = work.steps();
#pragma omp parallel
    {
      bind_thread();
#pragma omp barrier
#pragma omp single
      {
        std::vector<std::int64_t> created(work.graphs());
        work.start();
        for (std::int64_t timestep = 0; timestep < steps; ++timestep)
          for (std::size_t index = 0; index < work.graphs(); ++index) {
            const interval points = work.table(index).points(timestep);
            for (std::int64_t point = points.first; point <= points.last; ++point)
              create(work, all[index], index, timestep, point);
            created[index] += points.size();
            if (timestep == 0 || timestep % left_ahead > 0 || created[index] < created_ahead * team_ ||
                points.size() > wide * team_)
              continue;
            wait(work, all[index], index, timestep - left_ahead);
            created[index] = 0;
          }
#pragma omp taskwait
        work.stop();
      }
    }
  }

 private:
  /// The output's first byte stands for the whole of it. `out` on it also waits for the tasks that read the
  /// old output.
  static void create(workload& work, kept_outputs& all, std::size_t index, std::int64_t timestep,
                     std::int64_t point) {
    std::byte* output = all.at(timestep, point).data();
    thread_local std::vector<input> scratch;
    const auto inputs = all.inputs(timestep, point, scratch);
    const input* const first = inputs.data();
    const std::size_t count = inputs.size();
    workload* const load = &work;
    kept_outputs* const outputs = &all;
#pragma omp task depend(iterator(std::size_t i = 0 : count), in : *first[i].data()) depend(out : *output) \
    firstprivate(load, outputs, index, timestep, point)
    execute(*load, *outputs, index, timestep, point, omp_get_thread_num());
  }

  /// Executes tasks until the tasks of the timestep have ended, whose outputs are not overwritten yet.
  static void wait(workload& work, kept_outputs& all, std::size_t index, std::int64_t timestep) {
    const interval points = work.table(index).points(timestep);
    const std::int64_t first = points.first;
    const std::int64_t after = points.last + 1;
    kept_outputs* const outputs = &all;
#ifdef __clang__
    // libomp keeps on the stack the node that `taskwait depend` waits with, and a task that ends late writes
    // to it after the wait has returned: random crashes (LLVM pull requests 86130 and 126049). A task's node
    // is on its heap.
    std::atomic<bool> ended{false};
#pragma omp task depend(iterator(std::int64_t point = first : after), \
                            in : *outputs->at(timestep, point).data()) shared(ended)
    ended.store(true, std::memory_order_release);  // the load below sees what the tasks before have written
    while (!ended.load(std::memory_order_acquire)) {
#pragma omp taskyield
    }
#else
#pragma omp taskwait depend(iterator(std::int64_t point = first : after), \
                                in : *outputs->at(timestep, point).data())
#endif
  }

  int team_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<tasks>(workers); }, cores());
}
