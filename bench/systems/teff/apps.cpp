// The mini-apps on libteff: parallel_for, tasks and worksharing tasks of a flow, and tasks of a graph, whose
// edges are functions of a task's key.
#include <teff/runtime.hpp>

#include <cstdint>
#include <string_view>

#include "flow_tasks.hpp"
#include "graph_tasks.hpp"
#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

class apps_system final : public system {
 public:
  explicit apps_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "teff",
            .variant = "task_graph",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  [[nodiscard]] bool has(way_kind /*how*/) const override { return true; }
  [[nodiscard]] std::string_view variant(way_kind how) const override { return variant_of(how); }
  counts run_steps(way_kind how, std::int64_t tasks_of_step, const program& steps,
                   teff::bench::region_meter& region) override {
    if (how == way_kind::loops) {
      loops each(parallel_loop);
      timed(region, [&] { steps(each); });
      return {};
    }
    if (how == way_kind::graph) {
      graph_tasks tasks(runtime_, tasks_of_step);
      timed(region, [&] { steps(tasks); });
      return {.tasks = tasks.made()};
    }
    flow_tasks tasks(runtime_, tasks_of_step, how == way_kind::worksharing);
    timed(region, [&] { steps(tasks); });
    return {.tasks = tasks.made()};
  }

 private:
  template <class Run>
  void timed(teff::bench::region_meter& region, Run run) {
    runtime_.run([&] {
      region.start();
      run();
      region.stop();
    });
  }

  teff::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<apps_system>(argc, argv);
}
