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
  flow(const dependence_table& table, const machine& on, int ranks)
      : table_(table), graph_(table.graph()), on_(on), ranks_(ranks), blocks_(graph_.width, ranks) {
    for (auto& each : outputs_) each.resize(static_cast<std::size_t>(graph_.width));
    if (graph_.pattern->varying_width || graph_.steps < 2) return;
    posts_.resize(static_cast<std::size_t>(graph_.dependence_sets()));
    for (std::int64_t next = 1; next <= graph_.dependence_sets() && next < graph_.steps; ++next)
      for (int rank = 0; rank < ranks; ++rank)
        posts_[static_cast<std::size_t>(table.set_at(next))].push_back(messages(next - 1, rank));
  }

  void run(std::int64_t timestep, cores& on, network& across, dice& random) {
    if (timestep >= graph_.steps) return;
    if (across.is_shared()) send_all(timestep, across);
    std::size_t input = 0;
    for (int rank = 0; rank < ranks_; ++rank) {
      const interval own = blocks_.of(rank).clipped_to(table_.points(timestep));
      double& free = on.free(rank);
      for (std::int64_t point = own.first; point <= own.last; ++point) {
        double ready = free;
        std::int64_t kept = 0;
        std::uint64_t names = 0;
        for_each_input(timestep, point, [&](std::int64_t from) {
          const output& read = outputs(timestep - 1)[static_cast<std::size_t>(from)];
          is_broken_ |= read.timestep != timestep - 1;
          names += graphs::mix(static_cast<std::uint64_t>(from) + 1);
          ++done_.dependencies;
          const int sender = blocks_.owner(from);
          if (sender == rank) {
            ++kept;
          } else {
            const double there = across.is_shared()
                                     ? arrived_[input]
                                     : across.arrival({read.sent, sender, rank, input}, graph_.output_bytes);
            ready = std::max(ready, there);
          }
          ++input;
        });
        double length = on_.task + static_cast<double>(kept) * on_.dependence + count(timestep, point, names);
        if (on_.jitter > 0) length += random.exponential(on_.jitter);
        free = on.end_of(rank, ready, length);
      }
      if (own.size() > 0) post(timestep, rank, own, on);
    }
  }

  [[nodiscard]] const counters& done() const { return done_; }
  [[nodiscard]] bool is_broken() const { return is_broken_; }

 private:
  struct output {
    double sent = 0;
    std::int64_t timestep = -1;
  };

  std::vector<output>& outputs(std::int64_t timestep) {
    return outputs_[static_cast<std::size_t>(timestep & 1)];
  }

  template <class Function>
  void for_each_input(std::int64_t timestep, std::int64_t point, Function function) const {
    if (timestep == 0) return;
    const graphs::point_range inputs = table_.inputs(timestep, point);
    for (const interval& each : inputs.intervals()) {
      const interval points = each.clipped_to(inputs.bounds());
      for (std::int64_t from = points.first; from <= points.last; ++from) function(from);
    }
  }

  /// Counts a task. Returns the seconds that it computes.
  double count(std::int64_t timestep, std::int64_t point, std::uint64_t names) {
    const std::int64_t iterations = graph_.kernel.iterations_of(graph_.index, timestep, point);
    const std::int64_t flops = graph_.kernel.flops(iterations, graph_.scratch_bytes);
    const std::int64_t bytes = graph_.kernel.bytes(iterations, graph_.scratch_bytes);
    done_ +=
        {1, 0, flops, bytes,
         graphs::timestep_weight(timestep) * graphs::point_weight(graph_.index, point) * (1 + 2 * names)};
    return work_of(graph_, on_, flops, bytes);
  }

  /// A rank sends the outputs of a timestep, and asks for the inputs of the next.
  void post(std::int64_t timestep, int rank, interval own, cores& on) {
    double posts = 0;
    if (timestep + 1 < graph_.steps)
      posts =
          posts_.empty()
              ? messages(timestep, rank)
              : posts_[static_cast<std::size_t>(table_.set_at(timestep + 1))][static_cast<std::size_t>(rank)];
    const double cost = on_.message + static_cast<double>(graph_.output_bytes) * on_.message_byte;
    if (posts > 0) on.free(rank) = on.end_of(rank, on.free(rank), posts * cost);
    for (std::int64_t point = own.first; point <= own.last; ++point)
      outputs(timestep)[static_cast<std::size_t>(point)] = {on.free(rank), timestep};
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
                     [&](std::int64_t from) { posts += blocks_.owner(from) != rank ? 0.5 : 0; });
    }
    return posts;
  }

  void send_all(std::int64_t timestep, network& across) {
    std::vector<message> all;
    std::size_t input = 0;
    const interval points = table_.points(timestep);
    for (std::int64_t point = points.first; point <= points.last; ++point) {
      const int rank = blocks_.owner(point);
      for_each_input(timestep, point, [&](std::int64_t from) {
        if (const int sender = blocks_.owner(from); sender != rank)
          all.push_back({outputs(timestep - 1)[static_cast<std::size_t>(from)].sent, sender, rank, input});
        ++input;
      });
    }
    arrived_.resize(input);
    across.arrivals(all, graph_.output_bytes, arrived_);
  }

  const dependence_table& table_;
  const task_graph& graph_;
  const machine& on_;
  int ranks_;
  blocks blocks_;
  std::array<std::vector<output>, 2> outputs_;  ///< by parity of the timestep
  std::vector<std::vector<double>> posts_;      ///< of each dependence set, by rank; none for a varying width
  std::vector<double> arrived_;
  counters done_;
  bool is_broken_ = false;
};

}  // namespace

graphs::simulated_run simulate(const graphs::workload& work, const machine& on, int ranks,
                               std::uint64_t seed) {
  cores all(on, ranks, seed);
  network across(on, ranks, seed);
  dice random(graphs::mix(seed) ^ seed);
  std::vector<flow> flows;
  for (std::size_t i = 0; i < work.graphs(); ++i) flows.emplace_back(work.table(i), on, ranks);
  for (std::int64_t timestep = 0; timestep < work.steps(); ++timestep)
    for (flow& each : flows) each.run(timestep, all, across, random);
  graphs::simulated_run run{.machine = on.name, .seed = seed};
  for (const flow& each : flows) {
    run.done += each.done();
    if (each.is_broken())
      throw std::logic_error("a simulated task has read an output that was not there yet");
  }
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
