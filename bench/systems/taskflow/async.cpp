// Taskflow's asynchronous tasks that count: the last predecessor of a task to finish goes on with it, or
// creates one that does. Nothing is stored of the graph but a window of counters.
#include <memory>

#include "executor.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/counted_tasks.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class async final : public adapter, private executor {
 public:
  using executor::executor;

  [[nodiscard]] identity describe() const override { return executor::describe("async"); }

  void run(workload& work) override {
    counted_tasks tasks(work);
    wake_all();
    work.start();
    executor_.silent_async([&] { tasks.spawn_first([&](task_name first) { start(tasks, first); }); });
    executor_.wait_for_all();
    work.stop();
  }

 private:
  void start(counted_tasks& tasks, task_name first) {
    executor_.silent_async([this, &tasks, first] {
      tasks.run_from(
          first, [this] { return executor_.this_worker_id(); },
          [&](task_name ready) { start(tasks, ready); });
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<async>(workers); });
}
