// If timesteps repeat, the tasks of one period are the body of a taskiter. NODES derives their order once,
// closes it to a cyclic graph, and runs each task again as often as the period repeats. Tasks of other
// timesteps are created one by one.
#include "grid_task.hpp"
#include "nodes_session.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/period.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// A task at every repetition of a timestep.
class repeated_task : public grid_task {
 public:
  repeated_task(const grid_task& first, std::int64_t length) : grid_task(first), length_(length) {}

  void operator()() {
    grid_task::operator()();
    advance(length_);
  }

 private:
  std::int64_t length_;
};

/// The code of one task, which creates all others.
class execution {
 public:
  execution(workload& work, std::deque<kept_outputs>& all)
      : work_(work), all_(all), repeated_(find_period(work)) {
    if (repeated_.length == 0) return;
    const std::int64_t end = repeated_.end();
    ++repeated_.first;  // its tasks also wait for tasks of a timestep that repeats
    repeated_.repeats = (end - repeated_.first) / repeated_.length;
    if (held(repeated_.first, repeated_.first + repeated_.length) > most_held) repeated_ = {};
  }

  void run() {
    create(0, repeated_.first);
    if (repeated_.length > 0) {
      taskwait();  // the taskiter names no data
      // #pragma oss taskiter around a loop of so many iterations
      submit_iterations([this] { create_period(); }, static_cast<std::size_t>(repeated_.repeats));
      taskwait();
    }
    create(repeated_.end(), work_.steps());
    taskwait();
  }

 private:
  /// Tasks and accesses of a taskiter: all are held until its end.
  static constexpr std::size_t most_held = std::size_t{1} << 19;

  template <class Each>
  void for_each_task(std::int64_t first, std::int64_t end, Each each) const {
    for (std::int64_t timestep = first; timestep < end; ++timestep)
      for (std::size_t index = 0; index < work_.graphs(); ++index) {
        const interval points = work_.table(index).points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point)
          each(grid_task(work_, all_[index], index, timestep, point));
      }
  }
  [[nodiscard]] std::size_t held(std::int64_t first, std::int64_t end) const {
    std::size_t all = 0;
    for_each_task(first, end, [&](const grid_task& task) { all += 1 + task.accesses(); });
    return all;
  }
  void create(std::int64_t first, std::int64_t end) const {
    creator tasks;
    for_each_task(first, end, [&](const grid_task& task) { tasks.create(task); });
  }
  void create_period() const {
    for_each_task(repeated_.first, repeated_.first + repeated_.length,
                  [&](const grid_task& task) { submit(repeated_task(task, repeated_.length)); });
  }

  workload& work_;
  std::deque<kept_outputs>& all_;
  period repeated_;
};

class taskiter final : public adapter {
 public:
  explicit taskiter(int workers) : session_(workers) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "ompss2",
            .variant = "taskiter",
            .version = nodes_session::release(),
            .workers = session_.workers()};
  }

  void run(workload& work) override {
    std::deque<kept_outputs> all = keep_outputs(work, kept);
    execution here(work, all);
    session_.run([&] {
      work.start();
      here.run();
      work.stop();
    });
  }

 private:
  nodes_session session_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<taskiter>(workers); });
}
