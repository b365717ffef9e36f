// The columns of a graph over MPI ranks, in a Charm++ that was built for MPI. It lives beside MPI in each
// rank, and takes messages while all ranks are in its scheduler.
#include <mpi-interoperate.h>

#include <memory>
#include <string>
#include <vector>

#include "columns.hpp"
#include "ranks.decl.h"
#include "teff/graphs/mpi_adapter.hpp"
#include "version.hpp"

namespace {

/// Graphs whose tasks are not all done, as this rank knows.
std::size_t unfinished = 0;

/// Of rank 0.
CProxy_region regions;

}  // namespace

/// One on each rank: ends the timed region there.
class region : public CBase_region {
 public:
  /// Once all are there, CharmLibInit() returns.
  region() { contribute(CkCallback(CkCallback::ckExit)); }

  void graph_done() {
    if (--unfinished > 0) return;
    running->stop();
    contribute(CkCallback(CkCallback::ckExit));
  }
};

class beginning : public CBase_beginning {
 public:
  explicit beginning(CkArgMsg* words) {
    delete words;
    regions = CProxy_region::ckNew();
  }
};

namespace {

/// A rank has one worker, Charm++'s scheduler.
class ranks_adapter final : public mpi_adapter {
 public:
  ranks_adapter() {
    static std::vector<std::string> words{"charm++", "++quiet"};
    static std::vector<char*> flags;  // both are read as long as Charm++ runs
    for (std::string& each : words) flags.push_back(each.data());
    flags.push_back(nullptr);
    CharmLibInit(MPI_COMM_WORLD, static_cast<int>(words.size()), flags.data());
  }
  ~ranks_adapter() override { CharmLibExit(); }
  ranks_adapter(const ranks_adapter&) = delete;
  ranks_adapter& operator=(const ranks_adapter&) = delete;

  [[nodiscard]] identity describe() const override { return identify("charm", "ranks", charm_version()); }

 private:
  void prepare(workload& work) override {
    check_outputs(work);
    running = &work;
    unfinished = work.graphs();
  }

  /// Rank 0 creates the columns, and has them begin.
  void execute(workload& work) override {
    std::vector<CProxy_column> columns;
    missing_ = work.graphs();
    if (rank() == 0)
      for (std::size_t i = 0; i < work.graphs(); ++i) {
        CkArrayOptions with(static_cast<int>(work.graph(i).width));
        with.setAnytimeMigration(false).setInitCallback(CkCallback(is_made, this));
        const CkCallback finished(CkReductionTarget(region, graph_done), regions);
        columns.push_back(CProxy_column::ckNew(static_cast<int>(i), finished, with));
      }
    StartCharmScheduler();
    start(work);
    for (CProxy_column& each : columns) each.begin();
    StartCharmScheduler();
    for (CProxy_column& each : columns) each.ckDestroy();
  }

  /// All columns of a graph are there.
  static void is_made(void* self, void* message) {
    CkFreeMsg(message);
    if (--static_cast<ranks_adapter*>(self)->missing_ == 0) CkExit();
  }

  std::size_t missing_ = 0;  ///< graphs that are not there yet, on rank 0
};

}  // namespace

int main(int argc, char** argv) {
  return drive_ranks(argc, argv, MPI_THREAD_SINGLE, [](int) { return std::make_unique<ranks_adapter>(); });
}

#include "columns.def.h"

#include "ranks.def.h"
