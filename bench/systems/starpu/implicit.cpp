// StarPU tasks that name the data they read and write. The main thread submits all of them, timestep by
// timestep, and StarPU derives the order (sequential consistency of the data).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>

#include "columns.hpp"
#include "named_data.hpp"
#include "session.hpp"
#include "task_codelet.hpp"
#include "teff/graphs/adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

void run_task(void* buffers[], void* argument) {
  execute(*static_cast<const task_name*>(argument), buffers);
}

class implicit final : public adapter {
 public:
  explicit implicit(int workers) : session_(workers) {
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = run_task;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet_.name = "task";
  }

  [[nodiscard]] identity describe() const override {
    return {.system = "starpu",
            .variant = "implicit",
            .version = starpu_version(),
            .workers = session::workers(),
            .limits = starpu_limits()};
  }

  void run(workload& work) override {
    const awake workers;
    std::deque<columns> all;
    for (std::size_t i = 0; i < work.graphs(); ++i)
      all.emplace_back(work.graph(i), [](std::int64_t) { return true; });
    const std::int64_t steps = work.steps();
    work.start();
    for (std::int64_t timestep = 0; timestep < steps; ++timestep)
      for (std::size_t index = 0; index < work.graphs(); ++index) {
        const interval points = work.table(index).points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point)
          submit(work, all[index], {&work, index, timestep, point});
      }
    starpu_task_wait_for_all();
    work.stop();
  }

 private:
  void submit(const workload& work, const columns& data, const task_name& name) {
    const point_range inputs = work.table(name.graph).inputs(name.timestep, name.point);
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet_;
    name_task(*task, name);
    named_data used(*task, static_cast<std::size_t>(inputs.size()) + 1);
    used.add(data.output(name.timestep, name.point), STARPU_W);
    for (const std::int64_t each : inputs) used.add(data.output(name.timestep - 1, each), STARPU_R);
    if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU does not take a task");
  }

  session session_;
  starpu_codelet codelet_{};
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<implicit>(workers); });
}
