// The floor: what any runtime could reach at best. Pinned threads own fixed columns and run them timestep by
// timestep; a flag beside each output says whose it is, so that a small output crosses to another core in the
// one cache line that the other waits for anyway. No queue, no scheduling.
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <span>
#include <thread>
#include <vector>

#include "teff/bench/adapter.hpp"

namespace {

using namespace teff::bench;

/// An output of a column, and whose it is.
struct alignas(128) slot {
  /// The timestep whose task is finished: its output is complete, its inputs have been read. The owner's
  /// release store pairs with the acquire load of those who wait for either.
  std::atomic<std::int64_t> finished{-1};
  std::span<std::byte> output;
  alignas(16) std::array<std::byte, 96> small;  ///< the output, where it fits
};

/// One column of a graph. Owner: the thread that runs it; others read its slots.
struct column {
  /// Of the last two timesteps: the task of t overwrites the output of t - 2, so all of its consumers, which
  /// are tasks of t - 1, must have finished.
  std::array<slot, 2> slots;
  std::array<std::vector<std::byte>, 2> large;

  void make_room(std::size_t bytes) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      if (bytes > slots[i].small.size()) large[i].resize(bytes);
      slots[i].output =
          bytes > slots[i].small.size() ? std::span(large[i]) : std::span(slots[i].small).first(bytes);
    }
  }
  [[nodiscard]] slot& at(std::int64_t timestep) { return slots[static_cast<std::size_t>(timestep & 1)]; }

  /// The slot of a timestep, once its task has finished.
  slot& wait_for(std::int64_t timestep, bool patient) {
    slot& here = at(timestep);
    while (here.finished.load(std::memory_order_acquire) < timestep) {
      if (patient) {
        std::this_thread::yield();  // more threads than cores: whoever we wait for needs ours
      } else {
        _mm_pause();
      }
    }
    return here;
  }
};

class flags final : public adapter {
 public:
  explicit flags(int workers) : workers_(workers), patient_(workers > usable_cores()) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "std_thread",
            .variant = "flags",
            .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE),
            .workers = workers_};
  }

  void run(workload& work) override {
    std::vector<std::vector<column>> graphs;
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      graphs.emplace_back(static_cast<std::size_t>(work.graph(i).width));
      for (column& each : graphs.back()) each.make_room(static_cast<std::size_t>(work.graph(i).output_bytes));
    }
    std::barrier ready(workers_, [&]() noexcept { work.start(); });
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < workers_; ++worker)
      threads.emplace_back([&, worker] {
        bind_to_core(worker);
        ready.arrive_and_wait();
        run_columns(work, graphs, worker);
      });
    threads.clear();  // joins
    work.stop();
  }

 private:
  void run_columns(workload& work, std::vector<std::vector<column>>& graphs, int worker) const {
    std::int64_t steps = 0;
    for (std::size_t i = 0; i < work.graphs(); ++i) steps = std::max(steps, work.graph(i).steps);
    std::vector<input> inputs;
    for (std::int64_t timestep = 0; timestep < steps; ++timestep) {
      for (std::size_t index = 0; index < work.graphs(); ++index) {
        const std::int64_t width = work.graph(index).width;
        const interval mine{worker * width / workers_, (worker + 1) * width / workers_ - 1};
        const interval points = mine.clipped_to(work.table(index).points(timestep));
        for (std::int64_t point = points.first; point <= points.last; ++point)
          run_point(work, graphs[index], index, timestep, point, inputs, worker);
      }
    }
  }

  void run_point(workload& work, std::vector<column>& columns, std::size_t index, std::int64_t timestep,
                 std::int64_t point, std::vector<input>& inputs, int worker) const {
    const dependence_table& table = work.table(index);
    const auto at = [&](std::int64_t each) -> column& { return columns[static_cast<std::size_t>(each)]; };
    inputs.clear();
    for (const std::int64_t each : table.inputs(timestep, point))
      inputs.emplace_back(at(each).wait_for(timestep - 1, patient_).output);
    if (timestep >= 2)
      for (const std::int64_t each : table.consumers(timestep - 2, point))
        at(each).wait_for(timestep - 1, patient_);
    slot& own = at(point).at(timestep);
    work.worker(worker).execute(index, timestep, point, own.output, inputs);
    own.finished.store(timestep, std::memory_order_release);
  }

  int workers_;
  bool patient_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<flags>(workers); });
}
