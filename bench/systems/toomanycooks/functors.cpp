// Functors on TooManyCooks' executor that count: the last predecessor of a task to finish goes on with it, or
// posts a functor that does. The last to end sets the event that the first coroutine awaits.
#include <memory>

#include "executor.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A workload while it runs.
class execution {
 public:
  explicit execution(workload& work) : work_(work), tasks_(work) {}

  tmc::task<void> run() {
    work_.start();
    tasks_.spawn_first([this](task_name first) { post(first); });
    end();
    co_await finished_;
    work_.stop();
  }

 private:
  void post(task_name first) {
    running_.begin_one();
    tmc::post(tmc::cpu_executor(), [this, first] {
      tasks_.run_from(
          first, [] { return static_cast<int>(tmc::current_thread_index()); },
          [this](task_name ready) { post(ready); });
      end();
    });
  }

  void end() {
    if (running_.end_one()) finished_.set();
  }

  workload& work_;
  counted_tasks tasks_;
  running_chains running_;
  tmc::manual_reset_event finished_;
};

class functors final : public adapter {
 public:
  explicit functors(int workers) : executor_(workers) {}

  [[nodiscard]] identity describe() const override { return executor_.describe("functors"); }

  void run(workload& work) override {
    execution all(work);
    executor_.wake_all();
    tmc::post_waitable(tmc::cpu_executor(), all.run()).get();
  }

 private:
  executor executor_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<functors>(workers); });
}
