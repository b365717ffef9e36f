// A qthread a column, which executes the column's tasks one after the other, and words with a full/empty bit
// between them: who has finished a task fills a word of each column that waits for it, and that column
// empties it. A word that is still full holds up who would fill it, so a column is at most a timestep ahead
// of those that wait for it.
#include <qthread/qthread.h>

#include <deque>
#include <functional>
#include <vector>

#include "session.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/task_order.hpp"
#include "teff/graphs/task_rows.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// Empty at first. Apart, so that two columns that are told at once do not share a cache line.
struct alignas(64) word {
  word() { check(qthread_syncvar_empty(&value)); }
  syncvar_t value{};
};

/// Whom a task waits for, and who waits for it.
struct row {
  std::vector<syncvar_t*> empty;
  std::vector<syncvar_t*> fill;
};

/// A graph as qthreads run it, one a column.
class columns {
 public:
  columns(workload& work, std::size_t index)
      : work_(work),
        index_(index),
        table_(work.table(index)),
        outputs_(table_, kept),
        order_(table_),
        words_(static_cast<std::size_t>(width() * width())),
        rows_(table_, {0, width() - 1}, kept, std::bind_front(&columns::look_up, this)) {}

  [[nodiscard]] std::int64_t width() const { return table_.graph().width; }

  /// Executes the tasks of a point. Called in its qthread.
  void run(std::int64_t point) {
    row scratch;
    const std::int64_t steps = table_.graph().steps;
    for (std::int64_t timestep = 0; timestep < steps; ++timestep) {
      if (!table_.points(timestep).contains(point)) continue;
      const row& task = rows_.at(timestep, point, scratch, std::bind_front(&columns::look_up, this));
      for (syncvar_t* each : task.empty) check(qthread_syncvar_readFE(nullptr, each));
      execute(timestep, point);
      if (timestep + 1 < steps)
        for (syncvar_t* each : task.fill) check(qthread_syncvar_writeEF_const(each, 1));
    }
  }

 private:
  static constexpr std::int64_t kept = 2;  ///< timesteps whose outputs are kept

  /// Not inline: between two calls a qthread may move to another thread, and what is its thread's with it.
  [[gnu::noinline]] void execute(std::int64_t timestep, std::int64_t point) {
    teff::graphs::execute(work_, outputs_, index_, timestep, point, qthread_worker(nullptr));
  }

  void look_up(std::int64_t timestep, std::int64_t point, row& task) {
    task.empty.clear();
    task.fill.clear();
    order_.for_each_predecessor(timestep, point, [&](std::int64_t from) {
      if (from != point) task.empty.push_back(&between(from, point));
    });
    order_.for_each_successor(timestep, point, [&](std::int64_t to) {
      if (to != point) task.fill.push_back(&between(point, to));
    });
  }

  [[nodiscard]] syncvar_t& between(std::int64_t from, std::int64_t to) {
    return words_[static_cast<std::size_t>(from * width() + to)].value;
  }

  workload& work_;
  std::size_t index_;
  const dependence_table& table_;
  kept_outputs outputs_;
  task_order order_;
  std::vector<word> words_;  ///< for each pair of columns
  task_rows<row> rows_;
};

/// What a qthread starts with.
struct column {
  columns* graph;
  std::int64_t point;
  const aligned_t* begin;
  aligned_t ended;
};

aligned_t run_column(void* given) {
  const column& own = *static_cast<column*>(given);
  check(qthread_readFF(nullptr, own.begin));
  own.graph->run(own.point);
  return 0;
}

class column_threads final : public adapter {
 public:
  explicit column_threads(int workers) : session_(workers) {}

  [[nodiscard]] identity describe() const override { return session::describe("columns"); }

  void run(workload& work) override {
    std::deque<columns> graphs;
    std::deque<column> threads;
    aligned_t begin = 0;
    check(qthread_empty(&begin));
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      columns& graph = graphs.emplace_back(work, i);
      for (std::int64_t point = 0; point < graph.width(); ++point) {
        column& each = threads.emplace_back(&graph, point, &begin, 0);
        check(qthread_fork(run_column, &each, &each.ended));
      }
    }
    work.start();
    check(qthread_fill(&begin));
    for (const column& each : threads) check(qthread_readFF(nullptr, &each.ended));
    work.stop();
  }

 private:
  session session_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<column_threads>(workers); });
}
