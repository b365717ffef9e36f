// The last predecessor of a task to finish spawns it.
#include <memory>

#include "pool.hpp"
#include "teff/bench/pinned_threads.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class tasks final : public adapter {
 public:
  explicit tasks(int workers)
      : pool_(workers, bind_to_core), workers_(count_workers(workers, [&](auto answer) {
          for (int i = 0; i < workers; ++i) pool_.spawn(answer);
          pool_.wait();
        })) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "example", .variant = "tasks", .version = "1.0", .workers = workers_};
  }

  void run(workload& work) override {
    counted_tasks all(work);
    work.start();  // only what happens from here ...
    all.spawn_first([&](task_name first) { spawn(all, first); });
    pool_.wait();
    work.stop();  // ... to here is timed
  }

 private:
  void spawn(counted_tasks& all, task_name first) {
    pool_.spawn([this, &all, first] {
      all.run_from(first, pool::here, [&](task_name ready) { spawn(all, ready); });
    });
  }

  pool pool_;
  int workers_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<tasks>(workers); });
}
