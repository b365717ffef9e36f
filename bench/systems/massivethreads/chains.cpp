// Threads of MassiveThreads that count: the last predecessor of a task to finish goes on with it, or creates
// a thread that does. A created thread runs at once, and other workers steal the rest of its creator. So
// there are never more threads than tasks that are ready. No thread joins them: the last one to end wakes the
// thread that began the run.
#include <memory>

#include "library.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A workload while it runs.
class execution {
 public:
  explicit execution(workload& work) : tasks_(work) { myth_uncond_init(&finished_); }
  ~execution() { myth_uncond_destroy(&finished_); }
  execution(const execution&) = delete;
  execution& operator=(const execution&) = delete;

  void run() {
    tasks_.spawn_first([this](task_name first) { create(first); });
    if (!running_.end_one()) myth_uncond_wait(&finished_);
  }

 private:
  struct chain {
    execution* all;
    task_name first;
  };

  void create(task_name first) {
    running_.begin_one();
    myth_detach(myth_create(run_chain, new chain{this, first}));
  }

  static void* run_chain(void* given) {
    const chain own = *std::unique_ptr<chain>(static_cast<chain*>(given));
    own.all->tasks_.run_from(own.first, myth_get_worker_num,
                             [&own](task_name first) { own.all->create(first); });
    if (own.all->running_.end_one()) myth_uncond_signal(&own.all->finished_);
    return nullptr;
  }

  counted_tasks tasks_;
  running_chains running_;
  myth_uncond_t finished_;
};

class chains final : public adapter {
 public:
  explicit chains(int workers) : library_(workers) {}

  [[nodiscard]] identity describe() const override { return library_.describe("chains"); }

  void run(workload& work) override {
    execution all(work);
    work.start();
    all.run();
    work.stop();
  }

 private:
  library library_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<chains>(workers); });
}
