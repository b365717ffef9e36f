// The mini-apps on libteff: parallel_for, tasks and worksharing tasks of a flow. Tiles are tasks of a graph,
// whose edges are functions of a task's key.
#include <teff/flow.hpp>
#include <teff/loops.hpp>
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

/// Steps as tasks of a flow, which several workers may share.
class flow_tasks final : public way {
 public:
  flow_tasks(teff::runtime& rt, std::int64_t parts, bool shared)
      : flow_(rt), spawned_(rt), parts_(parts), shared_(shared) {
    spawned_.indegree([](const spawned*) { return 0; })
        .priority([](const spawned* task) { return task->priority; })
        .body([](spawned* task) { std::unique_ptr<spawned>(task)->body(); });
  }

  void run(const step& each) override {
    const cut tasks(each.count, parts_);
    for (std::int64_t i = 0; i < tasks.parts(); ++i) make(each, tasks.part(i));
    made_ += tasks.parts();
  }
  void wait() override { flow_.wait(); }
  [[nodiscard]] bool spawns() const override { return !shared_; }
  void run_spawning(const std::function<void()>& first) override {
    first();
    spawned_.wait();
  }
  void spawn(int priority, std::function<void()> body) override {
    made_.fetch_add(1, std::memory_order_relaxed);  // a count
    spawned_.start(new spawned{priority, std::move(body)});
  }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  struct spawned {
    int priority;
    std::function<void()> body;
  };

  void make(const step& each, range some) {
    each.accesses(some, accesses_);
    named_.clear();
    for (const field_access& one : accesses_)
      named_.push_back(one.mode == access_mode::in    ? teff::in(one.bytes())
                       : one.mode == access_mode::out ? teff::out(one.bytes())
                                                      : teff::inout(one.bytes()));
    if (shared_ && some.size() > 1)
      flow_.task_for(some.begin, some.end, named_,
                     [body = each.body](teff::range chunk) { body({chunk.first, chunk.last}); });
    else
      flow_.task(named_, [body = each.body, some] { body(some); });
  }

  teff::flow flow_;
  teff::task_graph<spawned*> spawned_;  ///< no task depends on another
  std::int64_t parts_;
  bool shared_;
  std::atomic<std::int64_t> made_ = 0;
  access_list accesses_;
  std::vector<teff::access> named_;
};

class apps_system final : public tile_system {
 public:
  explicit apps_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "teff",
            .variant = "task_graph",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  [[nodiscard]] bool has(way_kind /*how*/) const override { return true; }
  [[nodiscard]] std::string_view variant(way_kind how) const override {
    return how == way_kind::tasks ? "t" : how == way_kind::worksharing ? "tf" : name_of(how);
  }
  counts run_steps(way_kind how, std::int64_t parts, const program& steps,
                   teff::bench::region_meter& region) override {
    if (how == way_kind::loops) {
      loops each([](std::int64_t count, const auto& body) {
        teff::parallel_for(std::int64_t{0}, count,
                           [&](std::int64_t first, std::int64_t last) { body({first, last}); });
      });
      timed(0, region, [&] { steps(each); });
      return {};
    }
    flow_tasks tasks(runtime_, parts, how == way_kind::worksharing);
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
