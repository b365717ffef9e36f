// The floor: what any runtime could reach at best. Pinned threads own fixed columns and run them timestep by
// timestep; one flag a point says how far it has come. No queue, no scheduling.
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include "teff/bench/adapter.hpp"

namespace {

using namespace teff::bench;

/// One column of a graph. Owner: the thread that runs it; others read `finished` and the outputs it covers.
struct alignas(128) column {
  /// The last timestep whose output is complete. The owner's release store pairs with the consumers' acquire
  /// load.
  std::atomic<std::int64_t> finished{-1};
  /// The last timestep whose inputs have been read. The owner's release store pairs with the producers'
  /// acquire load.
  std::atomic<std::int64_t> read{-1};
  /// The outputs of the last two timesteps: that of t overwrites that of t - 2, so all of t - 2's consumers,
  /// which are tasks of t - 1, must have read it.
  std::vector<std::byte> outputs[2];
};

void wait_for(const std::atomic<std::int64_t>& flag, std::int64_t timestep, bool patient) {
  while (flag.load(std::memory_order_acquire) < timestep) {
    if (patient) {
      std::this_thread::yield();  // more threads than cores: whoever we wait for needs ours
    } else {
      _mm_pause();
    }
  }
}

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
      for (column& each : graphs.back())
        for (auto& output : each.outputs) output.resize(static_cast<std::size_t>(work.graph(i).output_bytes));
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
    for (const std::int64_t each : table.inputs(timestep, point)) {
      wait_for(at(each).finished, timestep - 1, patient_);
      inputs.emplace_back(at(each).outputs[(timestep - 1) & 1]);
    }
    if (timestep >= 2)
      for (const std::int64_t each : table.consumers(timestep - 2, point))
        wait_for(at(each).read, timestep - 1, patient_);
    column& own = at(point);
    work.worker(worker).execute(index, timestep, point, own.outputs[timestep & 1], inputs);
    own.read.store(timestep, std::memory_order_release);
    own.finished.store(timestep, std::memory_order_release);
  }

  int workers_;
  bool patient_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<flags>(workers); });
}
