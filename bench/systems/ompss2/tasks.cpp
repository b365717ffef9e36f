// OmpSs-2 tasks that name the data they read and write: one task creates all others, timestep by timestep,
// and NODES derives the order.
#include "nodes_session.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

// A task that overwrites an output waits for those who read it. Tried in vain: 4 and 8, where they are done
// by then.
constexpr std::int64_t kept = 2;

/// #pragma oss task in({*inputs[i], i = 0; count}) out(*output)
class grid_task {
 public:
  grid_task(workload& work, kept_outputs& outputs, std::size_t graph, std::int64_t timestep,
            std::int64_t point)
      : work_(&work), outputs_(&outputs), graph_(graph), timestep_(timestep), point_(point) {}

  void operator()() const { execute(*work_, *outputs_, graph_, timestep_, point_, this_worker()); }

  [[nodiscard]] std::size_t accesses() const { return inputs().size() + 1; }
  void register_accesses(void* handler) const {
    for (const input& each : inputs())
      nanos6_register_read_depinfo(handler, const_cast<std::byte*>(each.data()), each.size(), 0);
    const auto output = outputs_->at(timestep_, point_);
    nanos6_register_write_depinfo(handler, output.data(), output.size(), 1);
  }

 private:
  [[nodiscard]] std::span<const input> inputs() const {
    thread_local std::vector<input> scratch;
    return outputs_->inputs(timestep_, point_, scratch);
  }

  workload* work_;
  kept_outputs* outputs_;
  std::size_t graph_;
  std::int64_t timestep_;
  std::int64_t point_;
};

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
