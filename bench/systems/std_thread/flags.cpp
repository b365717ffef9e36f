// The floor: the least time that any runtime could reach. Pinned threads own fixed columns and run them
// timestep by timestep. A flag beside each output gives its timestep, so a small output crosses to another
// core in the one cache line that the other waits for anyway. No queue, no scheduling.
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "teff/bench/pinned_threads.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/task_rows.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// An output of a column, and its timestep.
struct alignas(128) slot {
  /// The timestep whose task is finished: its output is complete, its inputs have been read. The owner's
  /// release store pairs with the acquire load of the threads that wait for either.
  std::atomic<std::int64_t> finished{-1};
  std::span<std::byte> output;
  alignas(16) std::array<std::byte, 96> small;  ///< the output, where it fits
};

/// A column of a graph: the outputs of its last two timesteps. The task of t overwrites the output of t - 2,
/// so all consumers of that output, tasks of t - 1, must have finished. Owner: the thread that runs it;
/// others read its slots.
struct column {
  std::array<slot, 2> slots;
  std::array<std::vector<std::byte>, 2> large;

  void make_room(std::size_t bytes) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (bytes > slots[i].small.size()) large[i].resize(bytes);
      slots[i].output =
          bytes > slots[i].small.size() ? std::span(large[i]) : std::span(slots[i].small).first(bytes);
    }
  }
};

/// The facts that a thread needs about a task.
struct step {
  slot* own = nullptr;
  std::vector<const slot*> awaited;  ///< of other threads, to finish the timestep before
  std::vector<input> inputs;
};

/// A graph as the threads run it: each has a block of columns.
class grid {
 public:
  grid(const dependence_table& table, int threads)
      : table_(table), threads_(threads), columns_(static_cast<std::size_t>(width())) {
    for (column& each : columns_) each.make_room(static_cast<std::size_t>(table.graph().output_bytes));
    steps_.emplace(table, interval{0, width() - 1}, kept, std::bind_front(&grid::look_up, this));
  }

  /// The points at a timestep that a thread owns.
  [[nodiscard]] interval points(std::int64_t timestep, int thread) const {
    return owned(thread).clipped_to(table_.points(timestep));
  }
  /// `scratch` may be written to.
  [[nodiscard]] const step& at(std::int64_t timestep, std::int64_t point, step& scratch) {
    return steps_->at(timestep, point, scratch, std::bind_front(&grid::look_up, this));
  }

 private:
  static constexpr std::int64_t kept = 2;  ///< timesteps

  [[nodiscard]] std::int64_t width() const { return table_.graph().width; }
  [[nodiscard]] interval owned(std::int64_t thread) const {
    return {thread * width() / threads_, (thread + 1) * width() / threads_ - 1};
  }
  [[nodiscard]] interval beside(std::int64_t point) const {
    return owned(((point + 1) * threads_ - 1) / width());
  }
  [[nodiscard]] slot& slot_of(std::int64_t timestep, std::int64_t point) {
    return columns_[static_cast<std::size_t>(point)].slots[static_cast<std::size_t>(timestep % kept)];
  }

  void look_up(std::int64_t timestep, std::int64_t point, step& task) {
    const interval own = beside(point);
    const auto await = [&](std::int64_t each) {
      if (!own.contains(each)) task.awaited.push_back(&slot_of(timestep - 1, each));
    };
    task.own = &slot_of(timestep, point);
    task.awaited.clear();
    task.inputs.clear();
    for (const std::int64_t each : table_.inputs(timestep, point)) {
      await(each);
      task.inputs.emplace_back(slot_of(timestep - 1, each).output);
    }
    if (timestep >= kept)
      for (const std::int64_t each : table_.consumers(timestep - kept, point)) await(each);
    std::ranges::sort(task.awaited);
    task.awaited.erase(std::unique(task.awaited.begin(), task.awaited.end()), task.awaited.end());
  }

  const dependence_table& table_;
  int threads_;
  std::vector<column> columns_;
  std::optional<task_rows<step>> steps_;
};

class flags final : public adapter {
 public:
  explicit flags(int workers) : threads_(count_pinned_threads(workers)), patient_(workers > usable_cores()) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "std_thread",
            .variant = "flags",
            .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE),
            .workers = threads_};
  }

  void run(workload& work) override {
    std::deque<grid> grids;
    for (std::size_t i = 0; i < work.graphs(); ++i) grids.emplace_back(work.table(i), threads_);
    run_on_pinned_threads(
        threads_, [&] { work.start(); }, [&](int worker) { run_columns(work, grids, worker); });
    work.stop();
  }

 private:
  void run_columns(workload& work, std::deque<grid>& grids, int worker) const {
    const std::int64_t steps = work.steps();
    step scratch;
    for (std::int64_t timestep = 0; timestep < steps; ++timestep)
      for (std::size_t index = 0; index < grids.size(); ++index) {
        const interval points = grids[index].points(timestep, worker);
        for (std::int64_t point = points.first; point <= points.last; ++point) {
          const step& task = grids[index].at(timestep, point, scratch);
          for (const slot* each : task.awaited) wait_for(*each, timestep - 1);
          work.worker(worker).execute(index, timestep, point, task.own->output, task.inputs);
          task.own->finished.store(timestep, std::memory_order_release);
        }
      }
  }

  void wait_for(const slot& awaited, std::int64_t timestep) const {
    while (awaited.finished.load(std::memory_order_acquire) < timestep) {
      if (patient_) {
        std::this_thread::yield();  // more threads than cores: the thread that we wait for needs our core
      } else {
        _mm_pause();
      }
    }
  }

  int threads_;
  bool patient_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<flags>(workers); });
}
