// OmpSs-2 tasks that name the data they read and write: one task creates all others, timestep by timestep,
// and NODES derives the order.
#include "grid_task.hpp"
#include "nodes_session.hpp"
#include "teff/graphs/adapter.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class tasks final : public adapter {
 public:
  explicit tasks(int workers) : session_(workers) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "ompss2",
            .variant = "tasks",
            .version = nodes_session::release(),
            .workers = session_.workers()};
  }

  void run(workload& work) override {
    std::deque<kept_outputs> all = keep_outputs(work, kept);
    session_.run([&] {
      work.start();
      create_all(work, all);
      taskwait();
      work.stop();
    });
  }

 private:
  static void create_all(workload& work, std::deque<kept_outputs>& all) {
    const std::int64_t steps = work.steps();
    creator all_tasks;
    for (std::int64_t timestep = 0; timestep < steps; ++timestep)
      for (std::size_t index = 0; index < work.graphs(); ++index) {
        const interval points = work.table(index).points(timestep);
        for (std::int64_t point = points.first; point <= points.last; ++point)
          all_tasks.create(grid_task(work, all[index], index, timestep, point));
      }
  }

  nodes_session session_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<tasks>(workers); });
}
