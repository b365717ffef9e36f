// The mini-apps on oneTBB: a task_group whose tasks count what their successors wait for.
#include <atomic>
#include <cstdint>
#include <vector>

#include "pinned_arena.hpp"
#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

/// The tasks of a factorisation while they run.
class counted_tasks {
 public:
  explicit counted_tasks(const cholesky& factors)
      : factors_(factors), met_(static_cast<std::size_t>(factors.tasks())) {}

  void run() {
    group_.run_and_wait([this] { run_from({0, 0, 0}); });
  }

 private:
  using task = cholesky::task;

  void run_from(const task& which) {
    factors_.execute(which);
    if (cholesky::makes_final(which))
      factors_.readers(which.row, which.column, [this](const task& reader) { fulfill(reader); });
    else
      fulfill(cholesky::next(which));
  }
  void fulfill(const task& which) {
    // acq_rel: the last one of a task's predecessors has seen what the others wrote.
    if (met_[factors_.number(which)].fetch_add(1, std::memory_order_acq_rel) + 1 == cholesky::indegree(which))
      group_.run([this, which] { run_from(which); });
  }

  const cholesky& factors_;
  std::vector<std::atomic<std::int32_t>> met_;  ///< dependences of a task
  tbb::task_group group_;
};

class task_group_system final : public system {
 public:
  explicit task_group_system(int workers) : workers_(workers), arena_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "tbb", .variant = "task_group", .version = tbb_version(), .workers = workers_};
  }

  counts run(gemm& product, teff::bench::region_meter& region) override {
    timed(region, [&] {
      tbb::task_group group;
      for (int column = 0; column < product.tiles(); ++column)
        for (int row = 0; row < product.tiles(); ++row)
          group.run([&, row, column] { run_from(group, product, {0, row, column}); });
      group.wait();
    });
    return {.tasks = product.tasks()};
  }

  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    timed(region, [&] { counted_tasks(factors).run(); });
    return {.tasks = factors.tasks()};
  }

 private:
  static void run_from(tbb::task_group& group, const gemm& product, const gemm::task& which) {
    product.execute(which);
    if (which.step + 1 < product.tiles())
      group.run([&, which] { run_from(group, product, {which.step + 1, which.row, which.column}); });
  }

  template <class Run>
  void timed(teff::bench::region_meter& region, Run run) {
    arena_.execute([&] {
      arena_.wake_all();
      region.start();
      run();
      region.stop();
    });
  }

  int workers_;
  pinned_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<task_group_system>(argc, argv);
}
