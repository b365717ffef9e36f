// PaRSEC's parameterized task graph, in one process. From the rules of ptg.jdf, PaRSEC generates the code
// that finds the tasks a finished one makes ready. Outputs lie in memory that all threads share, so tasks
// pass only control to each other.
#include "ptg.h"

#include <parsec/runtime.h>

#include <parsec/data_distribution.h>

#include <deque>
#include <functional>
#include <stdexcept>
#include <vector>

#include "release.hpp"
#include "tasks.h"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/mpi_adapter.hpp"
#include "teff/graphs/task_order.hpp"
#include "teff/graphs/task_rows.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// The tasks that a task waits for, and the tasks that wait for it.
struct neighbours {
  std::vector<int> before;
  std::vector<int> after;
};

/// A graph while it runs.
class graph_order {
 public:
  explicit graph_order(const dependence_table& table)
      : outputs(table, 2),
        table_(table),
        order_(table),
        rows_(table, {0, table.graph().width - 1}, 2, std::bind_front(&graph_order::list, this)) {}
  graph_order(const graph_order&) = delete;
  graph_order& operator=(const graph_order&) = delete;

  [[nodiscard]] const dependence_table& table() const { return table_; }
  [[nodiscard]] const neighbours& of(std::int64_t timestep, std::int64_t point, neighbours& scratch) const {
    if (timestep + 1 < table_.graph().steps)
      return rows_.at(timestep, point, scratch, std::bind_front(&graph_order::list, this));
    list(timestep, point, scratch);  // no task waits for the last
    return scratch;
  }

  kept_outputs outputs;

 private:
  void list(std::int64_t timestep, std::int64_t point, neighbours& made) const {
    const auto add_to = [](std::vector<int>& all) {
      return [&all](std::int64_t each) { all.push_back(static_cast<int>(each)); };
    };
    made.before.clear();
    made.after.clear();
    order_.for_each_predecessor(timestep, point, add_to(made.before));
    order_.for_each_successor(timestep, point, add_to(made.after));
  }

  const dependence_table& table_;
  task_order order_;
  task_rows<neighbours> rows_;
};

/// The running workload: PaRSEC's generated code is C, and has no pointer to it.
workload* running = nullptr;
std::deque<graph_order> orders;
int due = 0;  ///< tasks

graph_order& order_of(int graph) {
  return orders[static_cast<std::size_t>(graph)];
}
const neighbours& neighbours_of(int graph, int timestep, int point) {
  thread_local neighbours scratch;
  return order_of(graph).of(timestep, point, scratch);
}

/// The points of all graphs as a data collection, all of this process.
class one_process {
 public:
  one_process() {
    parsec_data_collection_init(&points_, 1, 0);
    points_.rank_of = rank_of;
    points_.vpid_of = vpid_of;
  }
  ~one_process() { parsec_data_collection_destroy(&points_); }
  one_process(const one_process&) = delete;
  one_process& operator=(const one_process&) = delete;

  [[nodiscard]] parsec_data_collection_t* points() { return &points_; }

 private:
  static std::uint32_t rank_of(parsec_data_collection_t*, ...) { return 0; }
  static std::int32_t vpid_of(parsec_data_collection_t*, ...) { return 0; }

  parsec_data_collection_t points_{};
};

class ptg final : public mpi_adapter {
 public:
  explicit ptg(int workers) : mpi_adapter(workers) {
    if (ranks() > 1) throw usage_error("it is for one rank: control alone passes from task to task");
    char name[] = "parsec";  // flags for PaRSEC: it must not read this program's flags
    char* flags[] = {name, nullptr};
    char** arguments = flags;
    int count = 1;
    context_ = parsec_init(workers, &count, &arguments);
    if (context_ == nullptr) throw std::runtime_error("PaRSEC does not start");
    saw_workers(parsec_workers(context_));
  }
  ~ptg() override { parsec_fini(&context_); }

  [[nodiscard]] identity describe() const override {
    identity who = identify("parsec", "ptg");
    who.version = parsec_release();
    return who;
  }

 private:
  void prepare(workload& work) override {
    orders.clear();
    for (std::size_t i = 0; i < work.graphs(); ++i) orders.emplace_back(work.table(i));
    running = &work;
    due = static_cast<int>(work.expected().tasks);
  }
  void execute(workload& work) override {
    one_process here;
    parsec_taskpool_t* const tasks = &parsec_ptg_new(here.points(), static_cast<int>(work.graphs()))->super;
    start(work);
    parsec_context_add_taskpool(context_, tasks);
    parsec_context_start(context_);
    parsec_context_wait(context_);
    stop(work);
    parsec_taskpool_free(tasks);
    orders.clear();
  }

  parsec_context_t* context_ = nullptr;
};

}  // namespace

int task_count() {
  return due;
}
int task_steps(int graph) {
  return static_cast<int>(order_of(graph).table().graph().steps);
}
int task_first(int graph, int timestep) {
  return static_cast<int>(order_of(graph).table().points(timestep).first);
}
int task_last(int graph, int timestep) {
  return static_cast<int>(order_of(graph).table().points(timestep).last);
}
int tasks_before(int graph, int timestep, int point) {
  return static_cast<int>(neighbours_of(graph, timestep, point).before.size());
}
int task_before(int graph, int timestep, int point, int i) {
  return neighbours_of(graph, timestep, point).before[static_cast<std::size_t>(i)];
}
int tasks_after(int graph, int timestep, int point) {
  return static_cast<int>(neighbours_of(graph, timestep, point).after.size());
}
int task_after(int graph, int timestep, int point, int i) {
  return neighbours_of(graph, timestep, point).after[static_cast<std::size_t>(i)];
}
void task_execute(int graph, int timestep, int point, int thread) {
  teff::graphs::execute(*running, order_of(graph).outputs, static_cast<std::size_t>(graph), timestep, point,
                        thread);
}

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_MULTIPLE,
                     [](int workers) { return std::make_unique<ptg>(workers); });
}
