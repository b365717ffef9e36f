// TaskTorrent's micro-benchmarks on teff::task_graph: the key of a task is (row, column), and a block of rows
// is a worker's.
#include <teff/task_graph.hpp>
#include <teff/version.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "teff/micro/drive.hpp"

namespace {

using namespace teff::micro;

/// Of a gate, -1 and its worker.
using key = std::array<std::int32_t, 2>;

/// Holds all workers but one, awake, until it is opened.
class gate {
 public:
  void wait() {
    held_.fetch_add(1, std::memory_order_relaxed);
    while (!open_.load(std::memory_order_acquire)) std::this_thread::yield();  // pairs with open()
  }
  void await(unsigned workers) const {
    while (held_.load(std::memory_order_relaxed) != workers) std::this_thread::yield();
  }
  void open() { open_.store(true, std::memory_order_release); }

 private:
  std::atomic<unsigned> held_{0};  // relaxed: it orders nothing else
  std::atomic<bool> open_{false};
};

class task_graph_system {
 public:
  static constexpr bool inserts_before = true;

  explicit task_graph_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "teff",
            .variant = "task_graph",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  void run(grid& tasks, teff::bench::region_meter& region) {
    const auto rows = static_cast<unsigned>(tasks.rows());
    const unsigned workers = runtime_.workers();
    gate others;
    teff::task_graph<key> graph(runtime_);
    graph
        .place([rows, workers](const key& k) {
          return k[0] < 0 ? static_cast<unsigned>(k[1]) : static_cast<unsigned>(k[0]) * workers / rows;
        })
        .indegree([&tasks](const key& k) { return k[0] < 0 ? 0 : tasks.indegree(k[1]); })
        .body([&](const key& k) {
          const auto [row, column] = k;
          if (row < 0) return others.wait();
          tasks.execute(row, column);
          if (column + 1 < tasks.columns())
            tasks.successors(row, [&, next = column + 1](std::int32_t each) { graph.fulfill({each, next}); });
        });
    runtime_.run([&] {
      for (unsigned worker = 0; worker < workers; ++worker)
        if (worker != teff::worker_index()) graph.fulfill({-1, static_cast<std::int32_t>(worker)});
      others.await(workers - 1);
      if (!tasks.asked().is_inserted) begin(others, region);
      const std::int32_t ready = tasks.asked().dependences > 0 ? 1 : tasks.columns();
      for (std::int32_t column = 0; column < ready; ++column)
        for (std::int32_t row = 0; row < tasks.rows(); ++row) graph.fulfill({row, column});
      if (tasks.asked().is_inserted) begin(others, region);
      graph.wait();
      region.stop();
    });
  }

 private:
  static void begin(gate& others, teff::bench::region_meter& region) {
    region.start();
    others.open();
  }

  teff::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<task_graph_system>(argc, argv);
}
