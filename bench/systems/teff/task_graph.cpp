// teff::task_graph: the key of a task is (graph, timestep, point). A task waits for those whose outputs it
// reads, and for those that read what it overwrites.
#include <teff/task_graph.hpp>

#include <barrier>
#include <cstring>
#include <memory>
#include <vector>

#include "teff/bench/adapter.hpp"
#include "teff/bench/task_order.hpp"

namespace {

using namespace teff::bench;

/// graph, timestep, point; the tasks of `start` are one for each worker, by its number as point.
using key = std::array<std::int32_t, 3>;
constexpr std::int32_t start = -1;

/// A graph's outputs of the last two timesteps, of each point on cache lines of its own, and which worker has
/// which points.
class columns {
 public:
  columns(const workload& work, std::size_t index, int workers)
      : order(work.table(index)),
        table_(work.table(index)),
        bytes_(static_cast<std::size_t>(work.graph(index).output_bytes)),
        stride_((bytes_ + line - 1) / line * line),
        memory_(new(std::align_val_t(line)) std::byte[2 * stride_ * width()]) {
    for (int worker = 0; worker < workers; ++worker)
      owners_.resize(static_cast<std::size_t>((worker + 1) * work.graph(index).width / workers),
                     static_cast<unsigned>(worker));
  }

  [[nodiscard]] std::span<std::byte> output(std::int64_t timestep, std::int64_t point) const {
    const auto row = static_cast<std::size_t>(timestep & 1) * width() + static_cast<std::size_t>(point);
    return {memory_.get() + row * stride_, bytes_};
  }
  void collect(std::int64_t timestep, std::int64_t point, std::vector<input>& inputs) const {
    inputs.clear();
    for (const std::int64_t each : table_.inputs(timestep, point))
      inputs.emplace_back(output(timestep - 1, each));
  }
  [[nodiscard]] unsigned owner(std::int64_t point) const { return owners_[static_cast<std::size_t>(point)]; }

  const task_order order;

 private:
  static constexpr std::size_t line = 128;
  struct release {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(line)); }
  };
  [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(table_.graph().width); }

  const dependence_table& table_;
  std::size_t bytes_;
  std::size_t stride_;
  std::unique_ptr<std::byte[], release> memory_;
  std::vector<unsigned> owners_;
};

/// A workload while it runs.
class execution {
 public:
  execution(teff::runtime& rt, workload& work, bool placed)
      : work_(work),
        inputs_(rt.workers()),
        ready_(static_cast<std::ptrdiff_t>(rt.workers()), started{work}),
        graph_(rt) {
    for (std::size_t i = 0; i < work.graphs(); ++i)
      columns_.push_back(std::make_unique<columns>(work, i, work.workers()));
    graph_
        .indegree([this](const key& k) {
          return k[0] == start ? 0 : static_cast<int>(of(k).order.predecessors(k[1], k[2]));
        })
        .place([this, placed](const key& k) {
          if (k[0] == start) return static_cast<unsigned>(k[2]);
          return placed ? of(k).owner(k[2]) : teff::anywhere;
        })
        .body([this](const key& k) { k[0] == start ? begin(k[2]) : execute(k); });
  }

  /// On a worker.
  void run() {
    for (std::int32_t worker = 0; worker < work_.workers(); ++worker) graph_.fulfill({start, 0, worker});
    graph_.wait();
    work_.stop();
  }

 private:
  struct started {
    workload& work;
    void operator()() noexcept { work.start(); }
  };

  [[nodiscard]] const columns& of(const key& k) const { return *columns_[static_cast<std::size_t>(k[0])]; }

  /// On every worker once: the time starts when all are awake.
  void begin(std::int32_t worker) {
    ready_.arrive_and_wait();
    for (std::int32_t index = 0; index < static_cast<std::int32_t>(columns_.size()); ++index) {
      const interval points = work_.table(static_cast<std::size_t>(index)).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point) {
        const key first{index, 0, static_cast<std::int32_t>(point)};
        if (of(first).owner(point) == static_cast<unsigned>(worker)) graph_.fulfill(first);
      }
    }
  }

  void execute(const key& k) {
    const auto [index, timestep, point] = k;
    const columns& here = of(k);
    const unsigned worker = teff::worker_index();
    std::vector<input>& inputs = inputs_[worker].all;
    here.collect(timestep, point, inputs);
    work_.worker(static_cast<int>(worker))
        .execute(static_cast<std::size_t>(index), timestep, point, here.output(timestep, point), inputs);
    here.order.for_each_successor(timestep, point,
                                  [&, index = index, next = timestep + 1](std::int64_t each) {
                                    graph_.fulfill({index, next, static_cast<std::int32_t>(each)});
                                  });
  }

  struct alignas(128) input_list {
    std::vector<input> all;
  };

  workload& work_;
  std::vector<std::unique_ptr<columns>> columns_;
  std::vector<input_list> inputs_;
  std::barrier<started> ready_;
  teff::task_graph<key> graph_;
};

class task_graph_adapter final : public adapter {
 public:
  task_graph_adapter(int workers, bool placed)
      : runtime_({.workers = static_cast<unsigned>(workers)}), placed_(placed) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "teff",
            .variant = placed_ ? "task_graph" : "task_graph_stealing",
            .version = "libteff",
            .workers = static_cast<int>(runtime_.workers())};
  }

  void run(workload& work) override {
    execution all(runtime_, work, placed_);
    runtime_.run([&] { all.run(); });
  }

 private:
  teff::runtime runtime_;
  bool placed_;
};

}  // namespace

// With --stealing first, no task has a place.
int main(int argc, char** argv) {
  const bool stealing = argc > 1 && std::strcmp(argv[1], "--stealing") == 0;
  if (stealing) {
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  return drive(argc, argv,
               [&](int workers) { return std::make_unique<task_graph_adapter>(workers, !stealing); });
}
