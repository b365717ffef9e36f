// Taskflow's asynchronous tasks that name those that they come after. A task makes them all.
#include <memory>
#include <span>

#include "executor.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/named_predecessors.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class dependent_async final : public adapter, private executor {
 public:
  using executor::executor;

  [[nodiscard]] identity describe() const override { return executor::describe("dependent_async"); }

  void run(workload& work) override {
    named_predecessors<tf::AsyncTask> tasks(work);
    wake_all();
    work.start();
    executor::run([&] {
      tasks.run_all(
          [&](task_name task, std::span<tf::AsyncTask* const> after) {
            return executor_.silent_dependent_async(
                [this, &tasks, task] { tasks.execute(task, executor_.this_worker_id()); }, after.begin(),
                after.end());
          },
          [this](const tf::AsyncTask& one) { executor_.corun_until([&] { return one.is_done(); }); });
    });
    work.stop();
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<dependent_async>(workers); });
}
