// The mini-apps on teff::task_graph. Functions of a task's key say all that there is to say.
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

class task_graph_system final : public system {
 public:
  explicit task_graph_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "teff",
            .variant = "task_graph",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
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
  return drive<task_graph_system>(argc, argv);
}
