// StarPU tasks that name the data they read and write: the main thread submits all of them, timestep by
// timestep, and StarPU derives the order (sequential consistency of the data).
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <new>

#include "columns.hpp"
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
  explicit implicit(int workers) : workers_(workers), session_(workers) {
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = run_task;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet_.name = "task";
  }

  [[nodiscard]] identity describe() const override {
    return {.system = "starpu", .variant = "implicit", .version = starpu_version(), .workers = workers_};
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
    task->cl_arg = allocate<task_name>(1);
    task->cl_arg_size = sizeof(task_name);
    task->cl_arg_free = 1;
    *static_cast<task_name*>(task->cl_arg) = name;
    task->nbuffers = static_cast<int>(inputs.size()) + 1;
    starpu_data_handle_t* handles = task->handles;
    starpu_data_access_mode* modes = task->modes;
    if (task->nbuffers > STARPU_NMAXBUFS) {  // StarPU frees these with the task
      const auto count = static_cast<std::size_t>(task->nbuffers);
      handles = task->dyn_handles = allocate<starpu_data_handle_t>(count);
      modes = task->dyn_modes = allocate<starpu_data_access_mode>(count);
    }
    *handles++ = data.output(name.timestep, name.point);
    *modes++ = STARPU_W;
    for (const std::int64_t each : inputs) {
      *handles++ = data.output(name.timestep - 1, each);
      *modes++ = STARPU_R;
    }
    if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU does not take a task");
  }

  /// Memory that StarPU gives back with free().
  template <class Value>
  static Value* allocate(std::size_t count) {
    void* const memory = std::calloc(count, sizeof(Value));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<Value*>(memory);
  }

  int workers_;
  session session_;
  starpu_codelet codelet_{};
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<implicit>(workers); });
}
