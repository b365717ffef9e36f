// HPX's dataflow: a task begins when the futures of those before it are ready. One thread makes them all.
#include <hpx/future.hpp>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "teff/graphs/adapter.hpp"
#include "teff/graphs/named_predecessors.hpp"
#include "threads.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

using done = hpx::shared_future<void>;

class dataflow final : public adapter, private threads {
 public:
  explicit dataflow(int workers) : threads(no_more_than_cores(workers, "HPX")) {}

  [[nodiscard]] identity describe() const override { return threads::describe("dataflow"); }

  void run(workload& work) override {
    named_predecessors<done> tasks(work);
    threads::run([&] {
      work.start();
      tasks.run_all(
          [&](task_name task, std::span<done* const> after) -> done {
            std::vector<done> inputs;
            inputs.reserve(after.size());
            for (const done* each : after) inputs.push_back(*each);
            return hpx::dataflow(
                [&tasks, task](const std::vector<done>&) {
                  tasks.execute(task, static_cast<int>(hpx::get_worker_thread_num()));
                },
                std::move(inputs));
          },
          [](const done& one) {
            if (one.valid()) one.wait();
          });
      work.stop();
    });
  }
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<dataflow>(workers); });
}
