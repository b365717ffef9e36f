// TaskTorrent's micro-benchmarks on TaskTorrent itself, as its own programs have them: a row's tasks start
// out on one thread, and may be stolen.
#include <array>
#include <cstdint>

#include "pinned_pool.hpp"
#include "teff/micro/drive.hpp"

namespace {

using namespace teff::micro;

class taskflow_system {
 public:
  static constexpr bool inserts_before = true;

  explicit taskflow_system(int workers)
      : threads_(pinned_pool<ttor::Threadpool>::count(workers, 0, "Wk_", false)) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "tasktorrent", .variant = "taskflow", .version = "1.0", .workers = threads_};
  }

  void run(grid& tasks, teff::bench::region_meter& region) const {
    using key = std::array<int, 2>;  // row, column
    pinned_pool<ttor::Threadpool> all(threads_, 0, "Wk_", false);
    ttor::Taskflow<key> flow(&all.pool());
    const bool is_graph = tasks.asked().dependences > 0;
    flow.set_mapping([this](key task) { return task[0] % threads_; })
        .set_indegree(
            [&tasks, is_graph](key task) { return is_graph && task[1] > 0 ? tasks.indegree(task[1]) : 1; })
        .set_task([&tasks](key task) { tasks.execute(task[0], task[1]); });
    if (is_graph)
      flow.set_fulfill([&tasks, &flow](key task) {
        if (task[1] + 1 == tasks.columns()) return;
        tasks.successors(task[0], [&](std::int32_t each) { flow.fulfill_promise({each, task[1] + 1}); });
      });

    all.gather();
    if (!tasks.asked().is_inserted) start(all, region);
    const std::int32_t ready = is_graph ? 1 : tasks.columns();
    for (std::int32_t column = 0; column < ready; ++column)
      for (std::int32_t row = 0; row < tasks.rows(); ++row) flow.fulfill_promise({row, column});
    if (tasks.asked().is_inserted) start(all, region);
    all.pool().join();
    region.stop();
  }

 private:
  static void start(pinned_pool<ttor::Threadpool>& all, teff::bench::region_meter& region) {
    region.start();
    all.open();
  }

  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<taskflow_system>(argc, argv);
}
