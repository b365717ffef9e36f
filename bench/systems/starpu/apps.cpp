// The mini-apps on StarPU, in one process.
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
