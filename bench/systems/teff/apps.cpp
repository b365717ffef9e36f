// The mini-apps on libteff: parallel_for, tasks and worksharing tasks of a flow, tasks of a graph. Tiles are
// tasks of a graph, too, whose edges are functions of a task's key.
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <cstdint>
#include <optional>
#include <string_view>

#include "flow_tasks.hpp"
#include "graph_tasks.hpp"
#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

class apps_system final : public tile_system {
 public:
  explicit apps_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "teff",
            .variant = "task_graph",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  [[nodiscard]] std::optional<way_kind> tile_way() const override { return way_kind::graph; }
  [[nodiscard]] bool has(way_kind /*how*/) const override { return true; }
  [[nodiscard]] std::string_view variant(way_kind how) const override { return variant_of(how); }
  counts run_steps(way_kind how, std::int64_t tasks_of_step, const program& steps,
                   teff::bench::region_meter& region) override {
    if (how == way_kind::loops) {
      loops each(parallel_loop);
      timed(0, region, [&] { steps(each); });
      return {};
    }
    if (how == way_kind::graph) {
      graph_tasks tasks(runtime_, tasks_of_step);
      timed(0, region, [&] { steps(tasks); });
      return {.tasks = tasks.made()};
    }
    flow_tasks tasks(runtime_, tasks_of_step, how == way_kind::worksharing);
    timed(0, region, [&] { steps(tasks); });
    return {.tasks = tasks.made()};
  }

  /// The products of one sum follow each other; any worker takes the next sum.
  counts run(gemm& product, teff::bench::region_meter& region) override {
    using task = gemm::task;
    return timed(product.tasks(), region, [&] {
      teff::task_graph<task> graph(runtime_);
      graph.indegree([&](task t) { return product.indegree(t); }).body([&](task t) {
        product.execute(t);
        if (const auto next = product.next(t)) graph.fulfill(*next);
      });
      product.visit_first([&](task first) { graph.fulfill(first); });
      graph.wait();
    });
  }

  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    using task = cholesky::task;
    return timed(factors.tasks(), region, [&] {
      teff::task_graph<task> graph(runtime_);
      graph.dense(static_cast<std::size_t>(factors.tasks()), [&](task t) { return factors.number(t); })
          .indegree([](task t) { return cholesky::indegree(t); })
          .priority([](task t) { return cholesky::priority(t); })
          .body([&](task t) {
            factors.execute(t);
            if (cholesky::makes_final(t))
              factors.readers(t.row, t.column, [&](task reader) { graph.fulfill(reader); });
            else
              graph.fulfill(cholesky::next(t));
          });
      graph.fulfill({0, 0, 0});
      graph.wait();
    });
  }

 private:
  template <class Run>
  counts timed(std::int64_t tasks, teff::bench::region_meter& region, Run run) {
    runtime_.run([&] {
      region.start();
      run();
      region.stop();
    });
    return {.tasks = tasks};
  }

  teff::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<apps_system>(argc, argv);
}
