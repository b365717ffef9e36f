// teff::task_graph: the key of a task is (graph, timestep, point). A task waits for those whose outputs it
// reads, and for those that read what it overwrites. A small output travels to other workers with the key.
#include <teff/task_graph.hpp>

#include <array>
#include <barrier>
#include <cstring>
#include <memory>
#include <vector>

#include "teff/bench/adapter.hpp"
#include "teff/bench/task_order.hpp"

namespace {

using namespace teff::bench;

/// A task, and an output that it reads. The tasks of graph `start` are one for each worker, its number as
/// point.
struct key {
  std::int32_t graph;
  std::int32_t timestep;
  std::int32_t point;
  std::int32_t from = -1;  ///< the point at timestep - 1 whose output this is; -1: none travels with the key
  std::array<std::byte, 16> output{};

  friend bool operator==(const key& a, const key& b) {
    return a.point == b.point && a.timestep == b.timestep && a.graph == b.graph;
  }
};
constexpr std::int32_t start = -1;

struct hash_of_task {
  std::size_t operator()(const key& k) const noexcept {
    const auto word = [](std::int32_t value) { return static_cast<std::uint64_t>(value); };
    return teff::key_hash<std::uint64_t>{}(word(k.timestep) << 32 ^ word(k.graph) << 24 ^ word(k.point));
  }
};

/// A graph's outputs of the last two timesteps, and which worker has which points. Where outputs travel each
/// worker has a copy of its own; else all share one, each output on cache lines of its own.
class columns {
 public:
  columns(const workload& work, std::size_t index, bool placed)
      : order_(work.table(index)),
        table_(work.table(index)),
        width_(static_cast<std::size_t>(table_.graph().width)),
        bytes_(static_cast<std::size_t>(table_.graph().output_bytes)),
        travels_(placed && bytes_ <= sizeof(key::output)),
        stride_(travels_ ? sizeof(key::output) : (bytes_ + line - 1) / line * line) {
    for (int worker = 0; worker < work.workers(); ++worker) {
      owners_.resize(
          (static_cast<std::size_t>(worker) + 1) * width_ / static_cast<std::size_t>(work.workers()),
          static_cast<unsigned>(worker));
      if (travels_ || worker == 0)
        copies_.emplace_back(new (std::align_val_t(line)) std::byte[2 * stride_ * width_]);
    }
    if (!table_.graph().pattern->varying_width) list_edges();
  }

  [[nodiscard]] bool travels() const { return travels_; }
  [[nodiscard]] unsigned owner(std::int64_t point) const { return owners_[static_cast<std::size_t>(point)]; }
  /// As the owner of point `reader` sees it.
  [[nodiscard]] std::span<std::byte> output(std::int64_t timestep, std::int64_t point,
                                            std::int64_t reader) const {
    const auto row = static_cast<std::size_t>(timestep & 1) * width_ + static_cast<std::size_t>(point);
    return {copies_[travels_ ? owner(reader) : 0].get() + row * stride_, bytes_};
  }
  /// `scratch` may be written to.
  [[nodiscard]] std::span<const input> inputs(std::int64_t timestep, std::int64_t point,
                                              std::vector<input>& scratch) const {
    if (timestep == 0) return {};
    if (!inputs_.empty()) return inputs_[input_row(timestep) + static_cast<std::size_t>(point)];
    collect(timestep, point, scratch);
    return scratch;
  }
  [[nodiscard]] std::int64_t predecessors(std::int64_t timestep, std::int64_t point) const {
    if (timestep == 0) return 0;
    if (edges_.empty()) return order_.predecessors(timestep, point);
    return edges_[edge_row(timestep - 1) + static_cast<std::size_t>(point)].predecessors;
  }
  template <class Each>
  void for_each_successor(std::int64_t timestep, std::int64_t point, Each each) const {
    if (edges_.empty()) return order_.for_each_successor(timestep, point, each);
    if (timestep + 1 == table_.graph().steps) return;
    for (const std::int32_t next : edges_[edge_row(timestep) + static_cast<std::size_t>(point)].successors)
      each(next);
  }

 private:
  static constexpr std::size_t line = 128;
  struct release {
    void operator()(std::byte* memory) const { operator delete[](memory, std::align_val_t(line)); }
  };
  /// Of a point between two timesteps.
  struct edges_at {
    std::vector<std::int32_t> successors;  ///< at the later one; those of other workers, who wait, first
    std::int64_t predecessors = 0;         ///< of the point at the later one
  };

  [[nodiscard]] std::size_t edge_row(std::int64_t timestep) const {
    if (sets_ == 1) return 0;
    return (static_cast<std::size_t>(table_.set_at(timestep)) * sets_ +
            static_cast<std::size_t>(table_.set_at(timestep + 1))) *
           width_;
  }
  [[nodiscard]] std::size_t input_row(std::int64_t timestep) const {
    return (static_cast<std::size_t>(table_.set_at(timestep)) * 2 + static_cast<std::size_t>(timestep & 1)) *
           width_;
  }
  void collect(std::int64_t timestep, std::int64_t point, std::vector<input>& all) const {
    all.clear();
    for (const std::int64_t each : table_.inputs(timestep, point))
      all.emplace_back(output(timestep - 1, each, point));
  }
  /// What does not depend on the timestep, once for all.
  void list_edges() {
    edges_.resize(sets_ * sets_ * width_);
    inputs_.resize(sets_ * 2 * width_);
    std::vector<bool> listed(edges_.size());
    for (std::int64_t t = 0; t + 1 < table_.graph().steps; ++t) {
      const std::size_t edges = edge_row(t);
      const std::size_t inputs = input_row(t + 1);
      for (std::size_t i = 0; i < width_; ++i) {
        const auto point = static_cast<std::int64_t>(i);
        if (inputs_[inputs + i].empty()) collect(t + 1, point, inputs_[inputs + i]);
        if (listed[edges + i]) continue;
        listed[edges + i] = true;
        edges_at& here = edges_[edges + i];
        here.predecessors = order_.predecessors(t + 1, point);
        for (const bool own : {false, true}) {
          order_.for_each_successor(t, point, [&](std::int64_t each) {
            if ((owner(each) == owner(point)) == own)
              here.successors.push_back(static_cast<std::int32_t>(each));
          });
        }
      }
    }
  }

  task_order order_;
  const dependence_table& table_;
  std::size_t sets_ = static_cast<std::size_t>(table_.graph().dependence_sets());
  std::size_t width_;
  std::size_t bytes_;
  bool travels_;
  std::size_t stride_;
  std::vector<unsigned> owners_;
  std::vector<std::unique_ptr<std::byte[], release>> copies_;  ///< by worker, or one
  std::vector<edges_at> edges_;             ///< by the dependence sets of both timesteps, and the point
  std::vector<std::vector<input>> inputs_;  ///< by dependence set, parity of the timestep, and point
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
      columns_.push_back(std::make_unique<columns>(work, i, placed));
    graph_
        .indegree([this](const key& k) {
          return k.graph == start ? 0 : static_cast<int>(of(k).predecessors(k.timestep, k.point));
        })
        .place([this, placed](const key& k) {
          if (k.graph == start) return static_cast<unsigned>(k.point);
          return placed ? of(k).owner(k.point) : teff::anywhere;
        })
        .arrived([this](const key& k) {
          if (k.from < 0) return;
          const auto here = of(k).output(k.timestep - 1, k.from, k.point);
          std::memcpy(here.data(), k.output.data(), here.size());
        })
        .body([this](const key& k) { k.graph == start ? begin(k.point) : execute(k); });
  }

  /// On a worker.
  void run() {
    for (std::int32_t worker = 0; worker < work_.workers(); ++worker)
      graph_.fulfill({.graph = start, .timestep = 0, .point = worker});
    graph_.wait();
    work_.stop();
  }

 private:
  struct started {
    workload& work;
    void operator()() noexcept { work.start(); }
  };

  [[nodiscard]] const columns& of(const key& k) const { return *columns_[static_cast<std::size_t>(k.graph)]; }

  /// On every worker once: the time starts when all are awake.
  void begin(std::int32_t worker) {
    ready_.arrive_and_wait();
    for (std::int32_t index = 0; index < static_cast<std::int32_t>(columns_.size()); ++index) {
      const interval points = work_.table(static_cast<std::size_t>(index)).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point) {
        const key first{.graph = index, .timestep = 0, .point = static_cast<std::int32_t>(point)};
        if (of(first).owner(point) == static_cast<unsigned>(worker)) graph_.fulfill(first);
      }
    }
  }

  void execute(const key& k) {
    const columns& here = of(k);
    const unsigned worker = teff::worker_index();
    const auto output = here.output(k.timestep, k.point, k.point);
    const auto inputs = here.inputs(k.timestep, k.point, inputs_[worker].all);
    work_.worker(static_cast<int>(worker))
        .execute(static_cast<std::size_t>(k.graph), k.timestep, k.point, output, inputs);
    key next{.graph = k.graph, .timestep = k.timestep + 1, .point = 0};
    if (here.travels()) {
      next.from = k.point;
      std::memcpy(next.output.data(), output.data(), output.size());
    }
    here.for_each_successor(k.timestep, k.point, [&](std::int64_t point) {
      next.point = static_cast<std::int32_t>(point);
      graph_.fulfill(next);
    });
  }

  struct alignas(128) input_list {
    std::vector<input> all;
  };

  workload& work_;
  std::vector<std::unique_ptr<columns>> columns_;
  std::vector<input_list> inputs_;
  std::barrier<started> ready_;
  teff::task_graph<key, hash_of_task> graph_;
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
