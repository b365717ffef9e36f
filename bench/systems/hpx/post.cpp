// Threads of HPX that count: the last predecessor of a task to finish goes on with it, or posts a thread that
// does. No code has a future of them: the last thread to end opens the latch at which the starting thread
// waits.
#include <hpx/latch.hpp>
#include <memory>

#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"
#include "threads.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A workload while it runs.
class execution {
 public:
  explicit execution(workload& work) : tasks_(work) {}

  void run() {
    tasks_.spawn_first([this](task_name first) { post(first); });
    end();
    finished_.wait();
  }

 private:
  void post(task_name first) {
    running_.begin_one();
    hpx::post([this, first] {
      tasks_.run_from(
          first, [] { return static_cast<int>(hpx::get_worker_thread_num()); },
          [this](task_name ready) { post(ready); });
      end();
    });
  }

  void end() {
    if (running_.end_one()) finished_.count_down(1);
  }

  counted_tasks tasks_;
  running_chains running_;
  hpx::latch finished_{1};
};

class post final : public adapter, private threads {
 public:
  explicit post(int workers) : threads(no_more_than_cores(workers, "HPX")) {}

  [[nodiscard]] identity describe() const override { return threads::describe("post"); }

  void run(workload& work) override {
    execution all(work);
    threads::run([&] {
      work.start();
      all.run();
      work.stop();
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<post>(workers); });
}
