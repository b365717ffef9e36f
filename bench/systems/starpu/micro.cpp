// TaskTorrent's micro-benchmarks on StarPU: tasks that name the data they read and write. The data of a
// column is written again two columns later.
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "named_data.hpp"
#include "session.hpp"
#include "teff/micro/drive.hpp"

namespace {

using namespace teff::micro;

/// The arguments of a task's codelet.
struct task_name {
  grid* tasks;
  std::int32_t row;
  std::int32_t column;
};

void run_task(void* /*buffers*/[], void* argument) {
  const auto& name = *static_cast<const task_name*>(argument);
  name.tasks->execute(name.row, name.column);
}

/// Data without bytes for two columns: StarPU derives the order from it, and copies nothing.
class tokens {
 public:
  explicit tokens(std::int32_t rows) : rows_(rows), handles_(2 * static_cast<std::size_t>(rows)) {
    for (starpu_data_handle_t& each : handles_) starpu_void_data_register(&each);
  }
  tokens(const tokens&) = delete;
  tokens& operator=(const tokens&) = delete;
  ~tokens() {
    for (const starpu_data_handle_t each : handles_) starpu_data_unregister(each);
  }
  [[nodiscard]] starpu_data_handle_t of(std::int32_t row, std::int32_t column) const {
    return handles_[static_cast<std::size_t>((column & 1) * rows_ + row)];
  }

 private:
  std::int32_t rows_;
  std::vector<starpu_data_handle_t> handles_;
};

class implicit_system {
 public:
  static constexpr bool inserts_before = true;

  explicit implicit_system(int workers) : session_(workers) {
    codelet_.where = STARPU_CPU;
    codelet_.cpu_funcs[0] = run_task;
    codelet_.nbuffers = STARPU_VARIABLE_NBUFFERS;
    codelet_.name = "task";
  }

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "starpu",
            .variant = "implicit",
            .version = starpu_version(),
            .workers = session::workers(),
            .limits = starpu_limits()};
  }

  void run(grid& tasks, teff::bench::region_meter& region) {
    if (tasks.asked().is_inserted) {
      submit_all(tasks, nullptr);
      region.start();
      const awake workers;
      starpu_task_wait_for_all();
      region.stop();
    } else {
      const awake workers;
      const tokens data(tasks.rows());
      region.start();
      submit_all(tasks, tasks.asked().dependences > 0 ? &data : nullptr);
      starpu_task_wait_for_all();
      region.stop();
    }
  }

 private:
  /// Null: tasks without data, in any order.
  void submit_all(grid& tasks, const tokens* data) {
    for (std::int32_t column = 0; column < tasks.columns(); ++column)
      for (std::int32_t row = 0; row < tasks.rows(); ++row) submit({&tasks, row, column}, data);
  }

  void submit(const task_name& name, const tokens* data) {
    starpu_task* const task = starpu_task_create();
    task->cl = &codelet_;
    name_task(*task, name);
    if (data != nullptr) name_data(*task, name, *data);
    if (starpu_task_submit(task) != 0) throw std::runtime_error("StarPU does not take a task");
  }

  static void name_data(starpu_task& task, const task_name& name, const tokens& data) {
    named_data used(task, static_cast<std::size_t>(name.tasks->indegree(name.column)) + 1);
    used.add(data.of(name.row, name.column), STARPU_W);
    if (name.column == 0) return;
    name.tasks->predecessors(name.row,
                             [&](std::int32_t each) { used.add(data.of(each, name.column - 1), STARPU_R); });
  }

  session session_;
  starpu_codelet codelet_{};
};

}  // namespace

int main(int argc, char** argv) {
  return drive<implicit_system>(argc, argv);
}
