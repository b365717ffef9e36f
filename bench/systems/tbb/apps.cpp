// The mini-apps on oneTBB: parallel_for, and a task_group whose tasks count their successors' predecessors.
#include <oneapi/tbb/parallel_for.h>

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
    // acq_rel: the last of a task's predecessors has seen the writes of the others.
    if (met_[factors_.number(which)].fetch_add(1, std::memory_order_acq_rel) + 1 == cholesky::indegree(which))
      group_.run([this, which] { run_from(which); });
  }

  const cholesky& factors_;
  std::vector<std::atomic<std::int32_t>> met_;  ///< dependences of a task
  tbb::task_group group_;
};

/// The tasks of a product: those on a sum follow each other, and what adds two sums needs both.
class chained_tasks {
 public:
  explicit chained_tasks(const gemm& product)
      : product_(product), sums_met_(static_cast<std::size_t>(product.tasks() - products())) {}

  void run() {
    product_.visit_first([this](const task& first) { group_.run([this, first] { run_from(first); }); });
    group_.wait();
  }

 private:
  using task = gemm::task;

  [[nodiscard]] std::int64_t products() const {
    return std::int64_t{product_.tiles()} * product_.tiles() * product_.tiles();
  }
  void run_from(const task& which) {
    product_.execute(which);
    if (const auto next = product_.next(which); next && is_ready(*next))
      group_.run([this, after = *next] { run_from(after); });
  }
  bool is_ready(const task& which) {
    if (product_.is_product(which)) return true;
    const int tiles = product_.tiles();
    const int number = ((which.step - tiles) * tiles + which.row) * tiles + which.column;
    // acq_rel: the second of the two sums' tasks has seen the writes of the first.
    return sums_met_[static_cast<std::size_t>(number)].fetch_add(1, std::memory_order_acq_rel) == 1;
  }

  const gemm& product_;
  std::vector<std::atomic<std::int8_t>> sums_met_;  ///< by the tasks that add two
  tbb::task_group group_;
};

class apps_system final : public tile_system {
 public:
  explicit apps_system(int workers) : arena_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "tbb", .variant = "task_group", .version = tbb_version(), .workers = arena_.workers()};
  }

  [[nodiscard]] bool has(way_kind how) const override { return how == way_kind::loops; }
  counts run_steps(way_kind /*how*/, std::int64_t /*parts*/, const program& steps,
                   teff::bench::region_meter& region) override {
    loops each([](std::int64_t count, const auto& body) {
      using indices = tbb::blocked_range<std::int64_t>;
      tbb::parallel_for(indices(0, count), [&](const indices& some) { body({some.begin(), some.end()}); });
    });
    timed(region, [&] { steps(each); });
    return {};
  }

  counts run(gemm& product, teff::bench::region_meter& region) override {
    timed(region, [&] { chained_tasks(product).run(); });
    return {.tasks = product.tasks()};
  }

  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    timed(region, [&] { counted_tasks(factors).run(); });
    return {.tasks = factors.tasks()};
  }

 private:
  template <class Run>
  void timed(teff::bench::region_meter& region, Run run) {
    arena_.execute([&] {
      arena_.wake_all();
      region.start();
      run();
      region.stop();
    });
  }

  pinned_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<apps_system>(argc, argv);
}
