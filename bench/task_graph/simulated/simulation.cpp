#include "simulation.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "cores.hpp"
#include "network.hpp"

namespace teff::simulated {
namespace {

using graphs::counters;
using graphs::dependence_table;
using graphs::interval;
using graphs::task_graph;

/// The points of a graph that a rank has: contiguous blocks, as the published Task Bench cuts them.
class blocks {
 public:
  blocks(std::int64_t width, int ranks) : owner_(static_cast<std::size_t>(width)) {
    for (int rank = 0; rank <= ranks; ++rank) first_.push_back((rank * width + ranks - 1) / ranks);
    for (int rank = 0; rank < ranks; ++rank)
      for (std::int64_t point = first_[at(rank)]; point < first_[at(rank + 1)]; ++point)
        owner_[at(point)] = rank;
  }
  [[nodiscard]] interval of(int rank) const { return {first_[at(rank)], first_[at(rank + 1)] - 1}; }
  [[nodiscard]] int owner(std::int64_t point) const { return owner_[at(point)]; }

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  std::vector<std::int64_t> first_;  ///< of each rank; the width at the end
  std::vector<std::int32_t> owner_;
};

double work_of(const task_graph& graph, const machine& on, std::int64_t flops, std::int64_t bytes) {
  if ((flops > 0 && on.flop == 0) || (bytes > 0 && on.byte == 0))
    throw std::invalid_argument(std::string(name(graph.kernel.kind)) +
                                ": the simulated machine does not say how long this kernel takes");
  return static_cast<double>(flops) * on.flop + static_cast<double>(bytes) * on.byte;
}

/// One graph while it is simulated.
class flow {
 public:
  flow(const dependence_table& table, const machine& on, int ranks, const network& across)
      : table_(table), graph_(table.graph()), on_(on), ranks_(ranks), blocks_(graph_.width, ranks) {
    for (auto& each : outputs_) each.resize(static_cast<std::size_t>(graph_.width));
    for (std::size_t i = 0; i < on.levels.size(); ++i)
      latencies_.push_back(across.latency(i, graph_.output_bytes));
    has_one_task_ = graph_.kernel.kind != graphs::kernel_kind::load_imbalance;
    posts_.resize(at(graph_.dependence_sets() + 1));
    if (at(graph_.dependence_sets() * graph_.width) >
        most_inputs / std::max<std::size_t>(table.max_inputs(), 1))
      throw std::invalid_argument("more than 2^27 dependences are too many to simulate: take fewer nodes");
    for (std::int64_t set = 0; set < graph_.dependence_sets(); ++set)
      for (std::int64_t point = 0; point < graph_.width; ++point) {
        for (const interval& each : table.intervals(set, point))
          for (std::int64_t from = each.first; from <= each.last; ++from)
            inputs_.push_back({static_cast<std::uint32_t>(from),
                               level_between(across, blocks_.owner(from), blocks_.owner(point))});
        starts_.push_back(inputs_.size());
      }
  }

  void run(std::int64_t timestep, cores& on, network& across, dice& random) {
    if (timestep >= graph_.steps) return;
    if (across.is_shared()) {
      send_all(timestep, across);
      execute(timestep, on, random, [&](const link&, double, std::size_t input) { return arrived_[input]; });
    } else if (on_.late.share > 0) {
      execute(timestep, on, random, [&](const link& by, double sent, std::size_t) {
        return sent + latencies_[by.level] + (by.level > in_node ? across.lateness_of_one() : 0);
      });
    } else {
      execute(timestep, on, random,
              [&](const link& by, double sent, std::size_t) { return sent + latencies_[by.level]; });
    }
  }

  [[nodiscard]] const counters& done() const { return done_; }

 private:
  static constexpr std::uint32_t same_rank = 0, in_node = 1;
  static constexpr std::size_t most_inputs = std::size_t{1} << 27;  ///< a gigabyte

  /// An input of a point: where it comes from, and how far the ranks are apart: beyond `in_node` each level
  /// of the network is further.
  struct link {
    std::uint32_t from;
    std::uint32_t level;
  };
  /// The stamp tells point and timestep. So a task that reads anything else has another checksum.
  struct output {
    double sent = 0;
    std::uint64_t stamp = 0;
  };
  struct task {
    std::int64_t flops;
    std::int64_t bytes;
    double seconds;
  };

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }
  static std::uint64_t stamp_of(std::int64_t timestep) {
    return static_cast<std::uint64_t>(timestep) * 0x9e3779b97f4a7c15;
  }
  static std::uint32_t level_between(const network& across, int from, int to) {
    return from == to ? same_rank : in_node + static_cast<std::uint32_t>(across.level_of(from, to));
  }

  [[nodiscard]] output* outputs(std::int64_t timestep) { return outputs_[at(timestep & 1)].data(); }

  /// Executes the tasks of a timestep. `arrival` says when an input from another rank is there.
  template <class Arrival>
  void execute(std::int64_t timestep, cores& on, dice& random, Arrival arrival) {
    const output* const before = outputs(timestep - 1);
    output* const now = outputs(timestep);
    const double* const posting = posts(timestep);
    const interval points = table_.points(timestep);
    const std::uint64_t stamp = stamp_of(timestep - 1);
    task one = task_at(timestep, 0);
    std::size_t input = 0;
    counters did;
    for (int rank = 0; rank < ranks_; ++rank) {
      const interval own = blocks_.of(rank).clipped_to(points);
      for (std::int64_t point = own.first; point <= own.last; ++point) {
        double ready = on.free(rank);
        std::int64_t kept = 0;
        std::uint64_t names = 0;
        for_each_input(timestep, point, [&](const link& each) {
          const output& read = before[each.from];
          names += read.stamp - stamp;
          if (each.level == same_rank)
            ++kept;
          else
            ready = std::max(ready, arrival(each, read.sent, input));
          ++input;
        });
        if (!has_one_task_) one = task_at(timestep, point);
        did += {1, 0, one.flops, one.bytes, graphs::point_weight(graph_.index, point) * (1 + 2 * names)};
        double length = on_.task + static_cast<double>(kept) * on_.dependence + one.seconds;
        if (on_.jitter > 0) [[unlikely]]
          length += random.exponential(on_.jitter);
        on.free(rank) = on.end_of(rank, ready, length);
      }
      if (own.size() > 0 && posting[rank] > 0) on.free(rank) = on.end_of(rank, on.free(rank), posting[rank]);
      for (std::int64_t point = own.first; point <= own.last; ++point)
        now[point] = {on.free(rank), graphs::mix(static_cast<std::uint64_t>(point) + 1) + stamp_of(timestep)};
    }
    did.dependencies = static_cast<std::int64_t>(input);
    did.checksum *= graphs::timestep_weight(timestep);
    done_ += did;
  }

  template <class Function>
  void for_each_input(std::int64_t timestep, std::int64_t point, Function function) const {
    if (timestep == 0) return;
    const interval there = table_.points(timestep - 1);
    const std::size_t row = at(table_.set_at(timestep) * graph_.width + point);
    for (std::size_t i = starts_[row]; i < starts_[row + 1]; ++i)
      if (there.contains(inputs_[i].from)) function(inputs_[i]);
  }

  [[nodiscard]] task task_at(std::int64_t timestep, std::int64_t point) const {
    const std::int64_t iterations = graph_.kernel.iterations_of(graph_.index, timestep, point);
    const std::int64_t flops = graph_.kernel.flops(iterations, graph_.scratch_bytes);
    const std::int64_t bytes = graph_.kernel.bytes(iterations, graph_.scratch_bytes);
    return {flops, bytes, work_of(graph_, on_, flops, bytes)};
  }

  /// The seconds in which each rank sends the outputs of a timestep and asks for the inputs of the next.
  const double* posts(std::int64_t timestep) {
    const bool is_last = timestep + 1 >= graph_.steps;
    std::vector<double>& known = posts_[is_last ? posts_.size() - 1 : at(table_.set_at(timestep + 1))];
    if (!known.empty() && !graph_.pattern->varying_width) return known.data();
    known.assign(at(ranks_), 0.0);
    const double cost = on_.message + static_cast<double>(graph_.output_bytes) * on_.message_byte;
    for (int rank = 0; rank < ranks_ && !is_last; ++rank) known[at(rank)] = messages(timestep, rank) * cost;
    return known.data();
  }

  /// Half of the messages that a rank sends behind this timestep, and half of those that it then receives. An
  /// output is one message to a rank, however many of the points there read it.
  [[nodiscard]] double messages(std::int64_t timestep, int rank) const {
    const interval all = blocks_.of(rank);
    double posts = 0;
    for (std::int64_t point = all.first; point <= all.last; ++point) {
      if (table_.points(timestep).contains(point)) {
        int before = rank;
        for (const std::int64_t to : table_.consumers(timestep, point))
          if (const int other = blocks_.owner(to); other != rank && other != before)
            posts += 0.5, before = other;
      }
      if (!table_.points(timestep + 1).contains(point)) continue;
      for_each_input(timestep + 1, point,
                     [&](const link& each) { posts += each.level != same_rank ? 0.5 : 0; });
    }
    return posts;
  }

  void send_all(std::int64_t timestep, network& across) {
    std::vector<message> all;
    std::size_t input = 0;
    const interval points = table_.points(timestep);
    for (std::int64_t point = points.first; point <= points.last; ++point)
      for_each_input(timestep, point, [&](const link& each) {
        if (each.level != same_rank)
          all.push_back(
              {outputs(timestep - 1)[each.from].sent, blocks_.owner(each.from), blocks_.owner(point), input});
        ++input;
      });
    arrived_.resize(input);
    across.arrivals(all, graph_.output_bytes, arrived_);
  }

  const dependence_table& table_;
  const task_graph& graph_;
  const machine& on_;
  int ranks_;
  blocks blocks_;
  bool has_one_task_;                           ///< all tasks are alike
  std::vector<double> latencies_{0};            ///< by a link's level
  std::vector<link> inputs_;                    ///< of each dependence set, point by point
  std::vector<std::size_t> starts_{0};          ///< of each point's inputs; the end of the last
  std::array<std::vector<output>, 2> outputs_;  ///< by parity of the timestep
  std::vector<std::vector<double>> posts_;      ///< of each dependence set, by rank; of the last timestep
  std::vector<double> arrived_;
  counters done_;
};

}  // namespace

graphs::simulated_run simulate(const graphs::workload& work, const machine& on, int ranks,
                               std::uint64_t seed) {
  cores all(on, ranks, seed);
  network across(on, ranks, seed);
  dice random(graphs::mix(seed) ^ seed);
  std::vector<flow> flows;
  for (std::size_t i = 0; i < work.graphs(); ++i) flows.emplace_back(work.table(i), on, ranks, across);
  for (std::int64_t timestep = 0; timestep < work.steps(); ++timestep)
    for (flow& each : flows) each.run(timestep, all, across, random);
  graphs::simulated_run run{.machine = on.name, .seed = seed};
  for (const flow& each : flows) run.done += each.done();
  for (int rank = 0; rank < ranks; ++rank) run.seconds = std::max(run.seconds, all.free(rank));
  return run;
}

graphs::simulated_run compute_only(const graphs::workload& work, const machine& on, int ranks) {
  graphs::simulated_run run{.machine = on.name};
  for (std::size_t i = 0; i < work.graphs(); ++i) {
    const task_graph& graph = work.graph(i);
    const counters all = graphs::expected_counters(work.table(i));
    const auto share =
        static_cast<double>((graph.width + ranks - 1) / ranks) / static_cast<double>(graph.width);
    run.seconds += work_of(graph, on, all.flops, all.bytes) * share;
    run.done += all;
  }
  return run;
}

}  // namespace teff::simulated
