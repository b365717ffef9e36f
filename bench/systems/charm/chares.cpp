// The columns of a graph on the cores of one machine, in a Charm++ that was built for no network.
#include <memory>
#include <vector>

#include "chares.decl.h"
#include "columns.hpp"
#include "runtime.hpp"
#include "teff/graphs/adapter.hpp"

namespace {

class chares final : public adapter {
 public:
  explicit chares(int workers) : runtime_(workers) {}

  [[nodiscard]] identity describe() const override { return runtime::describe("chares"); }

  void run(workload& work) override {
    check_outputs(work);
    running = &work;
    missing_ = work.graphs() + 1;
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      CkArrayOptions with(static_cast<int>(work.graph(i).width));
      with.setAnytimeMigration(false).setInitCallback(CkCallback(is_made, this));
      columns_.push_back(CProxy_column::ckNew(static_cast<int>(i), CkCallback(is_done, this), with));
    }
    begin_if_all_made();  // with one worker, a graph's columns may be there at once
    runtime_.run();
    columns_.clear();
  }

 private:
  /// All columns of a graph are there.
  static void is_made(void* self, void* message) {
    CkFreeMsg(message);
    static_cast<chares*>(self)->begin_if_all_made();
  }
  void begin_if_all_made() {
    if (--missing_ > 0) return;
    missing_ = columns_.size();
    running->start();
    for (CProxy_column& each : columns_) each.begin();
  }
  /// All columns of a graph have executed their last task.
  static void is_done(void* self, void* message) {
    CkFreeMsg(message);
    static_cast<chares*>(self)->end_if_all_done();
  }
  void end_if_all_done() {
    if (--missing_ > 0) return;
    running->stop();
    for (CProxy_column& each : columns_) each.ckDestroy();
    CkExit();
  }

  runtime runtime_;
  std::vector<CProxy_column> columns_;  ///< of each graph
  std::size_t missing_ = 0;             ///< graphs that are not there yet, or not done
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<chares>(workers); });
}

#include "columns.def.h"

#include "chares.def.h"
