// The mini-apps on oneTBB: parallel_for, and a task_group whose tasks count their successors' predecessors.
#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "parallel_blocks.hpp"
#include "pinned_arena.hpp"
#include "teff/apps/app.hpp"
#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

/// Tasks with keys in a task_group, which count the dependences of their successors.
class counted_tasks final : public way, public keyed_tasks {
 public:
  explicit counted_tasks(std::int64_t parts) : parts_(parts) {}
  ~counted_tasks() noexcept override = default;  // a task_group's may throw while tasks run: none does

  void run(const step& each) override { each.body({0, each.count}); }
  void wait() override {}
  [[nodiscard]] keyed_tasks* graph() override { return this; }

  [[nodiscard]] std::int64_t parts() const override { return parts_; }
  void run_graph(const graph_of_tasks& all, const std::function<void()>& begin) override {
    if (!all.number) throw lack("its tasks count dependences by their numbers, which these do not have");
    all_ = &all;
    made_ = all.tasks;
    met_ = std::vector<std::atomic<std::int32_t>>(static_cast<std::size_t>(all.tasks));
    begin();
    group_.wait();
  }
  void fulfill(task_key waiting) override {
    const int needed = all_->indegree(waiting);
    // acq_rel: the last of a task's predecessors has seen the writes of the others.
    if (needed <= 1 || met_[all_->number(waiting)].fetch_add(1, std::memory_order_acq_rel) + 1 == needed)
      group_.run([this, waiting] { all_->body(waiting); });
  }
  [[nodiscard]] std::int64_t made() const { return made_; }

 private:
  std::int64_t parts_;
  std::int64_t made_ = 0;
  const graph_of_tasks* all_ = nullptr;
  std::vector<std::atomic<std::int32_t>> met_;  ///< dependences of a task, by its number
  tbb::task_group group_;
};

class apps_system final : public system {
 public:
  explicit apps_system(int workers) : arena_(workers) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "tbb", .variant = "task_group", .version = tbb_version(), .workers = arena_.workers()};
  }

  [[nodiscard]] bool has(way_kind how) const override {
    return how == way_kind::loops || how == way_kind::graph;
  }
  [[nodiscard]] std::string_view variant(way_kind how) const override {
    return how == way_kind::graph ? "task_group" : name_of(how);
  }
  counts run_steps(way_kind how, std::int64_t parts, const program& steps,
                   teff::bench::region_meter& region) override {
    if (how == way_kind::graph) {
      counted_tasks tasks(parts);
      timed(region, [&] { steps(tasks); });
      return {.tasks = tasks.made()};
    }
    loops each([](std::int64_t count, const auto& body) {
      parallel_blocks(0, count, 0, [&body](std::int64_t begin, std::int64_t end) { body({begin, end}); });
    });
    timed(region, [&] { steps(each); });
    return {};
  }

 private:
  template <class Run>
  void timed(teff::bench::region_meter& region, Run run) {
    arena_.execute([&] {
      arena_.wake_all();
      region.start();
      run();
      region.stop();
    });
  }

  pinned_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<apps_system>(argc, argv);
}
