// The mini-apps on OpenMP: parallel loops, and tasks with depend clauses on the memory that they read and
// write.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "runtime.hpp"
#include "teff/apps/drive.hpp"
#include "teff/apps/task_way.hpp"

namespace {

using namespace teff::apps;

/// Steps as tasks. A part of a field is its first byte.
class depend_tasks final : public task_way, public task_maker {
 public:
  using task_way::task_way;

  void wait() override {
#pragma omp taskwait
  }
  [[nodiscard]] task_maker* spawns() override { return this; }
  void run_spawning(const std::function<void()>& first) override {
#pragma omp taskgroup
    first();
  }
  void spawn(int priority, std::function<void()> body) override {
    made_.fetch_add(1, std::memory_order_relaxed);  // a count
    const int from_0 = std::max(omp_get_max_task_priority() + priority, 0);
#pragma omp task priority(from_0) firstprivate(body)
    body();
  }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  void make(const step& each, range some, const access_list& accesses) override {
    ++made_;
    read_.clear();
    written_.clear();
    for (const field_access& one : accesses)
      one.visit_parts(parts(), [&](std::byte* part) {
        (one.mode == access_mode::in ? read_ : written_).push_back(part);
      });
    std::byte* const* const read = read_.data();
    std::byte* const* const written = written_.data();
    const std::size_t reads = read_.size();
    const std::size_t writes = written_.size();
    const auto& body = each.body;
    const int priority = each.priority;
#pragma omp task depend(iterator(std::size_t i = 0 : reads), in : *read[i])              \
    depend(iterator(std::size_t i = 0 : writes), inout : *written[i]) priority(priority) \
    firstprivate(body, some)
    body(some);
  }

  std::atomic<std::int64_t> made_ = 0;
  std::vector<std::byte*> read_;
  std::vector<std::byte*> written_;
};

class apps_system final : public system {
 public:
  explicit apps_system(int workers) : team_(start_team(workers)) {
#pragma omp parallel
    bind_thread();
  }

  [[nodiscard]] teff::bench::identity describe() const override { return identify("tasks", team_); }

  [[nodiscard]] bool has(way_kind how) const override {
    return how == way_kind::loops || how == way_kind::tasks;
  }
  counts run_steps(way_kind how, std::int64_t tasks_of_step, const program& steps,
                   teff::bench::region_meter& region) override {
    if (how == way_kind::tasks) {
      depend_tasks tasks(tasks_of_step);
      in_parallel(region, [&] { steps(tasks); });
      return {.tasks = tasks.made()};
    }
    loops each([](std::int64_t count, const auto& body) {
      parallel_blocks(0, count, 0, [&body](std::int64_t begin, std::int64_t end) { body({begin, end}); });
    });
    region.start();
    steps(each);
    region.stop();
    return {};
  }

 private:
  /// One thread makes the tasks, and all run them.
  template <class Make>
  static void in_parallel(teff::bench::region_meter& region, Make make) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
      {
        region.start();
        make();
#pragma omp taskwait
        region.stop();
      }
    }
  }

  int team_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<apps_system>(argc, argv, cores());
}
