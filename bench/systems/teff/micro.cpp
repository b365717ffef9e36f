// TaskTorrent's micro-benchmarks on teff::task_graph: the key of a task is (row, column), and a block of rows
// is a worker's. A task's end is told to another worker by one message for all tasks there that wait for it.
#include <teff/join.hpp>
#include <teff/loops.hpp>
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "teff/micro/drive.hpp"

namespace {

using namespace teff::micro;

/// A task. Or the end of a task, to be told to the worker `to`. With no row, the key keeps that worker awake.
struct key {
  std::int32_t row;
  std::int32_t column;
  std::int32_t to = nobody;

  static constexpr std::int32_t nobody = -1;
  friend bool operator==(const key&, const key&) = default;
};
constexpr std::int32_t no_row = -1;

struct hash_of_task {
  std::size_t operator()(const key& k) const noexcept {
    const auto word = [](std::int32_t value) { return static_cast<std::uint64_t>(value); };
    return teff::key_hash<std::uint64_t>{}(word(k.column) << 32 ^ word(k.row));
  }
};

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

/// A grid while it runs.
class execution {
 public:
  execution(teff::runtime& rt, grid& tasks, teff::bench::region_meter& region)
      : tasks_(tasks), region_(region), workers_(static_cast<std::int32_t>(rt.workers())), graph_(rt) {
    for (std::int64_t row = 0; row < tasks.rows(); ++row)
      owner_.push_back(static_cast<std::int32_t>(row * workers_ / tasks.rows()));
    graph_
        .place(
            [this](const key& k) { return static_cast<unsigned>(k.to == key::nobody ? owner(k.row) : k.to); })
        .indegree([this](const key& k) { return k.row == no_row ? 0 : tasks_.indegree(k.column); })
        .received([this](const key& k) {
          const bool is_end = k.to != key::nobody && k.row != no_row;
          if (is_end) arrive(k);
          return !is_end;
        })
        .body([this](const key& k) { k.row == no_row ? others_.wait() : execute(k.row, k.column); });
  }

  /// On a worker.
  void run() {
    for (std::int32_t worker = 0; worker < workers_; ++worker)
      if (worker != static_cast<std::int32_t>(*teff::worker_index())) graph_.fulfill({no_row, 0, worker});
    others_.await(static_cast<unsigned>(workers_ - 1));
    if (!tasks_.asked().is_inserted) begin();
    const std::int32_t ready = tasks_.asked().dependences > 0 ? 1 : tasks_.columns();
    for (std::int32_t column = 0; column < ready; ++column)
      for (std::int32_t row = 0; row < tasks_.rows(); ++row) graph_.fulfill({row, column});
    if (tasks_.asked().is_inserted) begin();
    graph_.wait();
    region_.stop();
  }

 private:
  [[nodiscard]] std::int32_t owner(std::int32_t row) const { return owner_[static_cast<std::size_t>(row)]; }

  void begin() {
    region_.start();
    others_.open();
  }
  void execute(std::int32_t row, std::int32_t column) {
    tasks_.execute(row, column);
    if (column + 1 == tasks_.columns()) return;
    std::int32_t told = owner(row);  // the rows of another worker are side by side
    tasks_.successors(row, [&, own = told](std::int32_t each) {
      const std::int32_t to = owner(each);
      if (to == own)
        graph_.fulfill({each, column + 1});
      else if (to != told)
        graph_.fulfill({row, column, told = to});
    });
  }
  void arrive(const key& end) {
    tasks_.successors(end.row, [&](std::int32_t each) {
      if (owner(each) == end.to) graph_.fulfill({each, end.column + 1});
    });
  }

  grid& tasks_;
  teff::bench::region_meter& region_;
  std::int32_t workers_;
  std::vector<std::int32_t> owner_;  ///< by row
  gate others_;
  teff::task_graph<key, hash_of_task> graph_;
};

class task_graph_system {
 public:
  static constexpr bool inserts_before = true;
  static constexpr shape shapes[] = {shape::chunks, shape::taskloop, shape::recursion, shape::regions};

  explicit task_graph_system(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const {
    return {.system = "teff",
            .variant = "task_graph",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  void run(grid& tasks, teff::bench::region_meter& region) {
    if (tasks.asked().made_by == shape::tasks) {
      execution all(runtime_, tasks, region);
      return runtime_.run([&] { all.run(); });
    }
    runtime_.run([&] {
      region.start();
      run_shape(tasks);
      region.stop();
    });
  }

 private:
  /// Without a task graph: as fork-join and as loops, of which the library cuts no iterations together.
  static void run_shape(grid& tasks) {
    constexpr teff::loop_options alone{.grain = 1};
    const auto both = [](const auto& first, const auto& second) { teff::join(first, second); };
    switch (tasks.asked().made_by) {
      case shape::recursion:
        return recurse(tasks, both);
      case shape::chunks:
        return teff::parallel_for(
            std::int64_t{0}, tasks.asked().tasks(), [&](std::int64_t i) { tasks.execute(i); }, alone);
      default:
        for (std::int32_t column = 0; column < tasks.columns(); ++column)
          teff::parallel_for(0, tasks.rows(), [&](std::int32_t row) { tasks.execute(row, column); }, alone);
    }
  }

  teff::runtime runtime_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<task_graph_system>(argc, argv);
}
