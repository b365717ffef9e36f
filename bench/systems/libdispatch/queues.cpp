// libdispatch: a serial queue a worker, to which belongs a block of each graph's columns. The last
// predecessor of a task to finish submits it to its column's queue, and a group tells when all are done.
// libdispatch decides which of its threads runs a queue, so none is bound to a core.
#include <deque>
#include <vector>

#include "handle.hpp"
#include "teff/bench/start_barrier.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/window.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A workload while it runs.
class execution {
 public:
  execution(workload& work, const std::vector<dispatch::handle<dispatch_queue_t>>& queues)
      : work_(work), queues_(queues), running_(dispatch_group_create()) {
    for (std::size_t i = 0; i < work.graphs(); ++i) graphs_.emplace_back(work.table(i));
  }

  void run() {
    for (std::size_t index = 0; index < work_.graphs(); ++index) {
      const interval points = work_.table(index).points(0);
      for (std::int64_t point = points.first; point <= points.last; ++point) submit(index, 0, point);
    }
    dispatch_group_wait(running_.get(), DISPATCH_TIME_FOREVER);
  }

 private:
  struct graph {
    explicit graph(const dependence_table& table) : outputs(table, 2), waiting(table) {}
    kept_outputs outputs;
    window waiting;
  };
  struct task {
    execution* all;
    std::size_t index;
    std::int64_t timestep;
    std::int64_t point;
  };

  /// The group counts the task until it has submitted those that it sets free.
  void submit(std::size_t index, std::int64_t timestep, std::int64_t point) {
    dispatch_group_async_f(running_.get(), queues_[owner(index, point)].get(),
                           new task{this, index, timestep, point}, [](void* given) {
                             const std::unique_ptr<task> ready(static_cast<task*>(given));
                             ready->all->execute(*ready);
                           });
  }

  void execute(const task& ready) {
    graph& here = graphs_[ready.index];
    teff::graphs::execute(work_, here.outputs, ready.index, ready.timestep, ready.point,
                          static_cast<int>(owner(ready.index, ready.point)));
    here.waiting.finish(ready.timestep, ready.point,
                        [&](std::int64_t next, std::int64_t each) { submit(ready.index, next, each); });
  }

  [[nodiscard]] std::size_t owner(std::size_t index, std::int64_t point) const {
    return static_cast<std::size_t>(point) * queues_.size() /
           static_cast<std::size_t>(work_.graph(index).width);
  }

  workload& work_;
  const std::vector<dispatch::handle<dispatch_queue_t>>& queues_;
  dispatch::handle<dispatch_group_t> running_;
  std::deque<graph> graphs_;
};

class queues final : public adapter {
 public:
  explicit queues(int workers) {
    for (int i = 0; i < workers; ++i) queues_.emplace_back(dispatch_queue_create("worker", nullptr));
    seen_ = count_workers(workers, [this](auto answer) { call_on_each(answer); });
  }

  [[nodiscard]] identity describe() const override {
    return {.system = "libdispatch",
            .variant = "queues",
            .version = "API " + std::to_string(DISPATCH_API_VERSION),
            .workers = seen_};
  }

  void run(workload& work) override {
    execution all(work, queues_);
    wake_all();
    work.start();
    all.run();
    work.stop();
  }

 private:
  void wake_all() {
    start_barrier all(static_cast<int>(queues_.size()));
    auto attend = [&all] { all.arrive_and_wait(); };
    call_on_each(attend);
  }

  /// Returns when the function has been called on each queue.
  template <class Function>
  void call_on_each(Function& function) {
    const dispatch::handle<dispatch_group_t> all(dispatch_group_create());
    for (const auto& each : queues_)
      dispatch_group_async_f(all.get(), each.get(), &function,
                             [](void* called) { (*static_cast<Function*>(called))(); });
    dispatch_group_wait(all.get(), DISPATCH_TIME_FOREVER);
  }

  std::vector<dispatch::handle<dispatch_queue_t>> queues_;
  int seen_ = 0;  ///< threads that have run them at once
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<queues>(workers); });
}
