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
  static constexpr shape shapes[] = {shape::chunks, shape::taskloop, shape::recursion, shape::regions};

  explicit depend_system(int workers) : team_(start_team(workers)) {
#pragma omp parallel
    bind_thread();
  }

  [[nodiscard]] teff::bench::identity describe() const { return identify("tasks", team_); }

  static void run(grid& tasks, teff::bench::region_meter& region) {
    std::vector<char> outputs(static_cast<std::size_t>(tasks.asked().tasks()));
    switch (tasks.asked().made_by) {
      case shape::tasks:
        if (tasks.asked().dependences > 0)
          return run_tasks(region, [&] { make_dependent(tasks, outputs.data()); });
        return run_tasks(region, [&] { make_independent(tasks); });
      case shape::taskloop:
        return run_tasks(region, [&] { make_loops(tasks); });
      case shape::recursion:
        return run_tasks(region, [&] { recurse(tasks, both); });
      case shape::chunks:
        return run_chunks(tasks, region);
      case shape::regions:
        return run_regions(tasks, region);
    }
  }

 private:
  template <class Make>
  static void run_tasks(teff::bench::region_meter& region, const Make& make) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
      {
        region.start();
        make();
#pragma omp taskwait
        region.stop();
      }
    }
  }

  static void run_chunks(grid& tasks, teff::bench::region_meter& region) {
    const std::int64_t count = tasks.asked().tasks();
#pragma omp parallel
    {
#pragma omp master
      region.start();
#pragma omp barrier
#pragma omp for schedule(dynamic)
      for (std::int64_t i = 0; i < count; ++i) tasks.execute(i);
#pragma omp master
      region.stop();
    }
  }

  static void run_regions(grid& tasks, teff::bench::region_meter& region) {
#pragma omp parallel
    {
    }
    region.start();
    for (std::int32_t column = 0; column < tasks.columns(); ++column) {
#pragma omp parallel for schedule(static)
      for (std::int32_t row = 0; row < tasks.rows(); ++row) tasks.execute(row, column);
    }
    region.stop();
  }

  static void make_loops(grid& tasks) {
    const auto rows = static_cast<std::uint64_t>(tasks.rows());
    for (std::int32_t column = 0; column < tasks.columns(); ++column) {
#pragma omp taskloop grainsize(1) shared(tasks)
      for (std::uint64_t row = 0; row < rows; ++row) tasks.execute(static_cast<std::int32_t>(row), column);
    }
  }

  static constexpr auto both = [](const auto& first, const auto& second) {
#pragma omp task shared(first)
    first();
#pragma omp task shared(second)
    second();
#pragma omp taskwait
  };

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
