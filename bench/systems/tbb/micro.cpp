// TaskTorrent's micro-benchmarks on oneTBB: a task_group whose tasks count their successors' predecessors,
// quicker than the flow graph's nodes.
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_invoke.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pinned_arena.hpp"
#include "teff/micro/drive.hpp"

namespace {

using namespace teff::micro;

/// The tasks of one run.
class counted_tasks {
 public:
  explicit counted_tasks(grid& tasks) : tasks_(tasks) {
    if (tasks.asked().dependences == 0) return;
    missing_ = std::vector<std::atomic<std::int32_t>>(static_cast<std::size_t>(tasks.asked().tasks()));
    for (std::size_t i = static_cast<std::size_t>(tasks.rows()); i < missing_.size(); ++i)
      missing_[i].store(tasks.asked().dependences, std::memory_order_relaxed);
  }

  void run() {
    const std::int32_t ready = missing_.empty() ? tasks_.columns() : 1;
    for (std::int32_t column = 0; column < ready; ++column)
      for (std::int32_t row = 0; row < tasks_.rows(); ++row) spawn(row, column);
    group_.wait();
  }

 private:
  void spawn(std::int32_t row, std::int32_t column) {
    group_.run([this, row, column] { run_from(row, column); });
  }
  /// The task, and one of those that it made ready, as long as there is one; the others are spawned.
  void run_from(std::int32_t row, std::int32_t column) {
    constexpr std::int32_t none = -1;
    for (; row != none; ++column) {
      tasks_.execute(row, column);
      std::int32_t next = none;
      if (column + 1 < tasks_.columns())
        tasks_.successors(row, [&](std::int32_t each) {
          // acq_rel: the last of a task's predecessors has seen the writes of the others.
          if (missing_[tasks_.index(each, column + 1)].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
          if (next != none) spawn(next, column + 1);
          next = each;
        });
      row = next;
    }
  }

  grid& tasks_;
  std::vector<std::atomic<std::int32_t>> missing_;  ///< predecessors that have not run; empty without any
  tbb::task_group group_;
};

class task_group_system {
 public:
  static constexpr bool inserts_before = false;
  static constexpr shape shapes[] = {shape::chunks, shape::taskloop, shape::recursion, shape::regions};

  explicit task_group_system(int workers) : arena_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "tbb", .variant = "task_group", .version = tbb_version(), .workers = arena_.workers()};
  }

  void run(grid& tasks, teff::bench::region_meter& region) {
    arena_.execute([&] {
      arena_.wake_all();
      region.start();
      if (tasks.asked().made_by == shape::tasks)
        counted_tasks(tasks).run();
      else
        run_shape(tasks);
      region.stop();
    });
  }

 private:
  static void run_shape(grid& tasks) {
    const auto both = [](const auto& first, const auto& second) { tbb::parallel_invoke(first, second); };
    const auto each = [](std::int64_t count, const auto& body) {
      tbb::parallel_for(
          tbb::blocked_range<std::int64_t>(0, count, 1),
          [&body](const auto& range) {
            for (std::int64_t i = range.begin(); i != range.end(); ++i) body(i);
          },
          tbb::simple_partitioner());
    };
    switch (tasks.asked().made_by) {
      case shape::recursion:
        return recurse(tasks, both);
      case shape::chunks:
        return each(tasks.asked().tasks(), [&](std::int64_t i) { tasks.execute(i); });
      default:
        for (std::int64_t first = 0; first < tasks.asked().tasks(); first += tasks.rows())
          each(tasks.rows(), [&](std::int64_t row) { tasks.execute(first + row); });
    }
  }

  pinned_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<task_group_system>(argc, argv);
}
