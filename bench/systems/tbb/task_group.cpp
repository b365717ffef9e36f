// oneTBB tasks in a task_group: the last predecessor of a task to finish creates it. The first task that one
// sets free is handed to the scheduler to run next (task bypass); the others go to the worker's deque, where
// the others steal. Nothing is stored of the graph but a window of counters.
#define TBB_PREVIEW_TASK_GROUP_EXTENSIONS 1
#include <oneapi/tbb/task_group.h>

#include <deque>

#include "pinned_arena.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/window.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

// oneTBB 2022.3 looks into the handle that a task returns even where it is empty, and crashes; 2023 asks
// first. There no task is handed on.
constexpr bool hands_on = TBB_INTERFACE_VERSION != 12170;

/// A workload while it runs.
class execution {
 public:
  explicit execution(workload& work) : work_(work) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs_.emplace_back(work.table(i));
  }

  void run() {
    for (std::size_t index = 0; index < work_.graphs(); ++index) {
      const interval points = work_.table(index).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point)
        tasks_.run(task(index, 0, point));
    }
    tasks_.wait();
  }

 private:
  struct graph {
    explicit graph(const dependence_table& table) : outputs(table, 2), waiting(table) {}
    kept_outputs outputs;
    window waiting;
  };

  tbb::task_handle task(std::size_t index, std::int64_t timestep, std::int64_t point) {
    return tasks_.defer([this, index, timestep, point] {
      if constexpr (hands_on) {
        return execute(index, timestep, point);
      } else {
        tbb::task_handle following = execute(index, timestep, point);
        if (following) tasks_.run(std::move(following));
      }
    });
  }

  /// Executes a task, starts those that it sets free but one, and returns that one.
  tbb::task_handle execute(std::size_t index, std::int64_t timestep, std::int64_t point) {
    graph& here = graphs_[index];
    teff::graphs::execute(work_, here.outputs, index, timestep, point,
                          tbb::this_task_arena::current_thread_index());
    tbb::task_handle following;
    here.waiting.finish(timestep, point, [&](std::int64_t next, std::int64_t each) {
      tbb::task_handle ready = task(index, next, each);
      if (!following) {
        following = std::move(ready);
      } else {
        tasks_.run(std::move(ready));
      }
    });
    return following;
  }

  workload& work_;
  std::deque<graph> graphs_;
  tbb::task_group tasks_;
};

class task_group final : public adapter {
 public:
  explicit task_group(int workers) : arena_(workers) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "tbb", .variant = "task_group", .version = tbb_version(), .workers = arena_.workers()};
  }

  void run(workload& work) override {
    execution all(work);
    arena_.execute([&] {
      arena_.wake_all();
      work.start();
      all.run();
      work.stop();
    });
  }

 private:
  pinned_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<task_group>(workers); });
}
