// TaskTorrent in one process: a task is named by its graph, timestep and point, and fulfils a promise of each
// task that waits for it. A task starts out on the thread that has its column, and idle threads steal.
#include <array>
#include <cstdint>
#include <deque>

#include "pinned_pool.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/owned_grid.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

using threads = pinned_pool<ttor::Threadpool>;
using key = std::array<int, 3>;  ///< graph, timestep, point

class taskflow final : public adapter {
 public:
  explicit taskflow(int workers) : threads_(threads::count(workers, 0, "Wk_", false)) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "tasktorrent", .variant = "taskflow", .version = "1.0", .workers = threads_};
  }

  void run(workload& work) override {
    std::deque<owned_grid> grids;
    for (std::size_t i = 0; i < work.graphs(); ++i) grids.emplace_back(work, i, threads_);
    const auto of = [&grids](const key& task) -> owned_grid& {
      return grids[static_cast<std::size_t>(task[0])];
    };

    threads all(threads_, 0, "Wk_", false);
    ttor::Taskflow<key> flow(&all.pool());
    flow.set_mapping([&of](key task) { return static_cast<int>(of(task).tasks.owner(task[2])); })
        .set_indegree([&of](key task) {
          return task[1] == 0 ? 1 : static_cast<int>(of(task).tasks.predecessors(task[1], task[2]));
        })
        .set_task([&work, &of](key task) {
          execute(work, of(task).outputs, static_cast<std::size_t>(task[0]), task[1], task[2],
                  threads::this_thread());
        })
        .set_fulfill([&of, &flow](key task) {
          thread_local owned_columns::successors scratch;
          for (const std::int32_t each : of(task).tasks.after(task[1], task[2], scratch).points)
            flow.fulfill_promise({task[0], task[1] + 1, each});
        });

    all.gather();
    all.open();
    work.start();
    for (std::size_t i = 0; i < grids.size(); ++i) {
      const interval points = work.table(i).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point)
        flow.fulfill_promise({static_cast<int>(i), 0, static_cast<int>(point)});
    }
    all.pool().join();
    work.stop();
  }

 private:
  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<taskflow>(workers); });
}
