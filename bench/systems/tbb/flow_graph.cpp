// oneTBB's flow graph: a ring of timesteps with a continue_node a point. A node runs once all its
// predecessors have sent their message, and again when the ring comes round: the graph is small, and built
// once.
#include <oneapi/tbb/flow_graph.h>

#include <algorithm>
#include <deque>
#include <vector>

#include "pinned_arena.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/edges.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;
using tbb::flow::continue_msg;

/// A graph of the workload as a ring of nodes. Points that don't exist at a timestep just pass the message
/// on.
class ring {
 public:
  ring(workload& work, std::size_t index)
      : work_(work), index_(index), table_(work.table(index)), outputs_(table_, 2), rows_(rows_of_a_round()) {
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t point = 0; point < width(); ++point)
        nodes_.emplace_back(graph_, [this, timestep = row, point](continue_msg message) mutable {
          visit(timestep, point);
          timestep += rows_;
          return message;
        });
    for (std::int64_t row = 0; row < rows_; ++row) {
      after_.emplace_back(table_.graph(), table_.graph().dependence_set(row),
                          table_.graph().dependence_set(row + 1));
      for (std::int64_t point = 0; point < width(); ++point)
        for_each_edge(row, point, [](node& from, node& to) { tbb::flow::make_edge(from, to); });
    }
  }

  /// Sends the first row what its predecessors would have sent.
  void start() {
    for (std::int64_t point = 0; point < width(); ++point)
      for (std::int64_t i = after_.back().predecessors(point, all()).size(); i > 0; --i)
        at(0, point).try_put(continue_msg());
  }
  void wait() { graph_.wait_for_all(); }

 private:
  using node = tbb::flow::continue_node<continue_msg>;

  void visit(std::int64_t timestep, std::int64_t point) {
    if (table_.points(timestep).contains(point))
      execute(work_, outputs_, index_, timestep, point, tbb::this_task_arena::current_thread_index());
    // Here the messages, which would go round for ever, end: a node sends once its body has returned.
    if (timestep == table_.graph().steps - 1)
      for_each_edge(timestep % rows_, point, [](node& from, node& to) { tbb::flow::remove_edge(from, to); });
  }

  template <class Function>
  void for_each_edge(std::int64_t row, std::int64_t point, Function function) {
    for (const std::int64_t each : after_[static_cast<std::size_t>(row)].successors(point, all()))
      function(at(row, point), at((row + 1) % rows_, each));
  }

  /// Rows after which the dependence sets repeat; more than there are sets, for a node must not be reached
  /// again before it has run (see window::finish).
  [[nodiscard]] std::int64_t rows_of_a_round() const {
    const task_graph& graph = table_.graph();
    std::int64_t rows = graph.dependence_sets() + 1;
    for (std::int64_t t = rows; t < graph.steps; ++t)
      while (graph.dependence_set(t) != graph.dependence_set(t % rows)) t = ++rows;
    return rows;
  }

  [[nodiscard]] std::int64_t width() const { return table_.graph().width; }
  [[nodiscard]] interval all() const { return {0, width() - 1}; }
  [[nodiscard]] node& at(std::int64_t row, std::int64_t point) {
    return nodes_[static_cast<std::size_t>(row * width() + point)];
  }

  workload& work_;
  std::size_t index_;
  const dependence_table& table_;
  kept_outputs outputs_;
  std::int64_t rows_;
  tbb::flow::graph graph_;
  std::vector<edges> after_;  ///< of each row
  std::deque<node> nodes_;
};

class flow_graph final : public adapter {
 public:
  explicit flow_graph(int workers) : arena_(workers) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "tbb", .variant = "flow_graph", .version = tbb_version(), .workers = arena_.workers()};
  }

  void run(workload& work) override {
    arena_.execute([&] {  // a flow graph runs in the arena that it was made in
      std::deque<ring> rings;
      for (std::size_t i = 0; i < work.graphs(); ++i) rings.emplace_back(work, i);
      arena_.wake_all();
      work.start();
      for (ring& each : rings) each.start();
      for (ring& each : rings) each.wait();
      work.stop();
    });
  }

 private:
  pinned_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<flow_graph>(workers); });
}
