// A qthread a column, which executes the column's tasks one after the other, and words with a full/empty bit
// between them. After a task, the qthread fills a word of each column that waits for it, and that column
// empties it. The qthread waits while a word is still full, so a column is at most a timestep ahead of the
// columns that wait for it.
#include <qthread/qthread.h>

#include <cstdint>
#include <deque>

#include "session.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/linked_columns.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// Empty at first. Apart, so that two columns that are told at once do not share a cache line.
struct alignas(64) word {
  word() { check(qthread_syncvar_empty(&value)); }
  syncvar_t value{};
};

using columns = linked_columns<word>;

/// The argument of a qthread's start function.
struct column {
  columns* graph;
  std::int64_t point;
  const aligned_t* begin;
  aligned_t ended;
};

aligned_t run_column(void* given) {
  const column& own = *static_cast<column*>(given);
  check(qthread_readFF(nullptr, own.begin));
  own.graph->run(
      own.point, [] { return static_cast<int>(qthread_worker(nullptr)); },
      [](word& from) { check(qthread_syncvar_readFE(nullptr, &from.value)); },
      [](word& to, std::int64_t) { check(qthread_syncvar_writeEF_const(&to.value, 1)); });
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
