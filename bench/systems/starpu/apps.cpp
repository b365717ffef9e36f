// The mini-apps on StarPU, in one process. Steps and tiles are tasks with implicit dependences on the data
// that they read and write.
#include <cstdint>
#include <string_view>

#include "step_tasks.hpp"
#include "teff/apps/drive.hpp"
#include "tile_tasks.hpp"

namespace {

class implicit_system final : public tile_tasks {
 public:
  explicit implicit_system(int workers) : session_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "starpu",
            .variant = "implicit",
            .version = starpu_version(),
            .workers = session::workers(),
            .limits = starpu_limits()};
  }

  [[nodiscard]] bool has(teff::apps::way_kind how) const override {
    return how == teff::apps::way_kind::tasks;
  }
  [[nodiscard]] std::string_view variant(teff::apps::way_kind /*how*/) const override { return "implicit"; }
  teff::apps::counts run_steps(teff::apps::way_kind /*how*/, std::int64_t tasks_of_step,
                               const teff::apps::program& steps, teff::bench::region_meter& region) override {
    step_tasks tasks(tasks_of_step);
    timed(region, [&] { steps(tasks); });
    return {.tasks = tasks.made()};
  }

 private:
  void insert(work what, std::span<starpu_data_descr> accesses, int priority) override {
    if (starpu_task_insert(&codelet(), STARPU_VALUE, &what, sizeof(what), STARPU_DATA_MODE_ARRAY,
                           accesses.data(), static_cast<int>(accesses.size()), STARPU_PRIORITY, priority,
                           0) != 0)
      throw std::runtime_error("StarPU does not take a task");
  }
  void wait() override { starpu_task_wait_for_all(); }

  session session_;
};

}  // namespace

int main(int argc, char** argv) {
  return teff::apps::drive<implicit_system>(argc, argv);
}
