// TaskTorrent's micro-benchmarks on OpenMP: tasks with depend clauses, or without.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime.hpp"
#include "teff/micro/drive.hpp"

namespace {

using namespace teff::micro;

class depend_system {
 public:
  static constexpr bool inserts_before = false;

  explicit depend_system(int workers) : team_(start_team(workers)) {
#pragma omp parallel
    bind_thread();
  }

  [[nodiscard]] teff::bench::identity describe() const { return identify("tasks", team_); }

  static void run(grid& tasks, teff::bench::region_meter& region) {
    std::vector<char> outputs(static_cast<std::size_t>(tasks.asked().tasks()));
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
      {
        region.start();
        if (tasks.asked().dependences > 0)
          make_dependent(tasks, outputs.data());
        else
          make_independent(tasks);
#pragma omp taskwait
        region.stop();
      }
    }
  }

 private:
  static void make_independent(grid& tasks) {
    for (std::int32_t column = 0; column < tasks.columns(); ++column)
      for (std::int32_t row = 0; row < tasks.rows(); ++row) {
#pragma omp task firstprivate(row, column) shared(tasks)
        tasks.execute(row, column);
      }
  }

  /// A byte stands for a task's output.
  static void make_dependent(grid& tasks, char* output) {
    for (std::int32_t column = 0; column < tasks.columns(); ++column)
      for (std::int32_t row = 0; row < tasks.rows(); ++row) {
        std::array<std::size_t, most_dependences> needed{};
        const std::size_t* const inputs = needed.data();
        std::size_t count = 0;
        if (column > 0)
          tasks.predecessors(row,
                             [&](std::int32_t each) { needed[count++] = tasks.index(each, column - 1); });
        char* const own = output + tasks.index(row, column);
#pragma omp task depend(iterator(std::size_t i = 0 : count), in : output[inputs[i]]) depend(out : *own) \
    firstprivate(row, column) shared(tasks)
        tasks.execute(row, column);
      }
  }

  int team_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<depend_system>(argc, argv, cores());
}
