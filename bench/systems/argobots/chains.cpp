// Argobots' tasklets that count: the last predecessor of a task to finish goes on with it, or creates a
// tasklet for it in the pool of its stream. Other streams steal from that pool. No tasklet waits, so none
// needs a stack. No code joins them: the last tasklet to end sets the eventual on which the starting thread
// waits.
#include <abt.h>

#include <memory>

#include "streams.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A workload while it runs.
class execution {
 public:
  explicit execution(workload& work) : tasks_(work) { check(ABT_eventual_create(0, &finished_)); }
  ~execution() { ABT_eventual_free(&finished_); }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

  void run() {
    tasks_.spawn_first([this](task_name first) { create(first); });
    end();
    check(ABT_eventual_wait(finished_, nullptr));
  }

 private:
  struct chain {
    execution* all;
    task_name first;
  };

  void create(task_name first) {
    running_.begin_one();
    check(ABT_task_create(streams::pool_of(streams::here()), run_chain, new chain{this, first}, nullptr));
  }

  static void run_chain(void* given) {
    const chain own = *std::unique_ptr<chain>(static_cast<chain*>(given));
    own.all->tasks_.run_from(own.first, streams::here, [&own](task_name first) { own.all->create(first); });
    own.all->end();
  }

  void end() {
    if (running_.end_one()) check(ABT_eventual_set(finished_, nullptr, 0));
  }

  counted_tasks tasks_;
  running_chains running_;
  ABT_eventual finished_ = ABT_EVENTUAL_NULL;
};

class chains final : public adapter {
 public:
  explicit chains(int workers) : streams_(workers) {}

  [[nodiscard]] identity describe() const override { return streams_.describe("chains"); }

  void run(workload& work) override {
    execution all(work);
    work.start();
    all.run();
    work.stop();
  }

 private:
  streams streams_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<chains>(workers); });
}
