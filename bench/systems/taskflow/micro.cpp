// TaskTorrent's micro-benchmarks on Taskflow: a static graph, which is made for each run.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "executor.hpp"
#include "teff/micro/drive.hpp"

namespace {

using namespace teff::micro;

class static_graph_system : public executor {
 public:
  static constexpr bool inserts_before = true;

  using executor::executor;

  [[nodiscard]] teff::bench::identity describe() const { return executor::describe("taskflow"); }

  void run(grid& all_tasks, teff::bench::region_meter& region) {
    if (!all_tasks.asked().is_inserted) region.start();
    tf::Taskflow flow;
    std::vector<tf::Task> all;
    all.reserve(static_cast<std::size_t>(all_tasks.asked().tasks()));
    for (std::int32_t column = 0; column < all_tasks.columns(); ++column)
      for (std::int32_t row = 0; row < all_tasks.rows(); ++row) {
        all.push_back(flow.emplace([&all_tasks, row, column] { all_tasks.execute(row, column); }));
        if (column > 0)
          all_tasks.predecessors(
              row, [&](std::int32_t each) { all[all_tasks.index(each, column - 1)].precede(all.back()); });
      }
    if (all_tasks.asked().is_inserted) region.start();
    executor_.run(flow).wait();
    region.stop();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive<static_graph_system>(argc, argv);
}
