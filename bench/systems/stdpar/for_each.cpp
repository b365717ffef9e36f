// C++17's parallel algorithms, bulk-synchronous: one std::for_each over the points of each timestep, whose
// end is the dependence. libstdc++ runs it on oneTBB, which also says how many threads there are, and which
// one we are in.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>
#include <oneapi/tbb/version.h>

#include <algorithm>
#include <execution>
#include <vector>

#include "teff/bench/cores.hpp"
#include "teff/bench/start_barrier.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

int this_worker() {
  return tbb::this_task_arena::current_thread_index();
}

/// Binds each thread that enters an arena to a core.
class pin final : public tbb::task_scheduler_observer {
 public:
  explicit pin(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) { observe(true); }
  ~pin() override { observe(false); }
  pin(const pin&) = delete;
  pin& operator=(const pin&) = delete;

  void on_scheduler_entry(bool) override {
    thread_local int core = -1;  // a thread that comes back may be given another index
    if (core == this_worker()) return;
    core = this_worker();
    bind_to_core(core);
  }
};

class for_each final : public adapter {
 public:
  explicit for_each(int workers)
      : workers_(workers),
        limit_(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)),
        arena_(workers, 1),
        pin_(arena_) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "stdpar",
            .variant = "for_each",
            .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + ", oneTBB " + TBB_runtime_version(),
            .workers = workers_};
  }

  void run(workload& work) override {
    const std::vector<column> columns = columns_of(work);
    std::deque<kept_outputs> all = keep_outputs(work, 2);
    const std::int64_t steps = work.steps();
    arena_.execute([&] {
      wake_all();
      work.start();
      for (std::int64_t timestep = 0; timestep < steps; ++timestep)
        std::for_each(std::execution::par, columns.begin(), columns.end(), [&](const column& of) {
          if (work.table(of.graph).points(timestep).contains(of.point))
            execute(work, all[of.graph], of.graph, timestep, of.point, this_worker());
        });
      work.stop();
    });
  }

 private:
  struct column {
    std::size_t graph;
    std::int64_t point;
  };

  static std::vector<column> columns_of(const workload& work) {
    std::vector<column> all;
    for (std::size_t graph = 0; graph < work.graphs(); ++graph)
      for (std::int64_t point = 0; point < work.graph(graph).width; ++point) all.push_back({graph, point});
    return all;
  }

  /// Idle threads sleep, and oneTBB promises none: the wait for them has an end.
  void wake_all() const {
    start_barrier all(workers_);
    const std::vector<int> workers(static_cast<std::size_t>(workers_));
    std::for_each(std::execution::par, workers.begin(), workers.end(), [&](int) { all.arrive_and_wait(); });
  }

  int workers_;
  tbb::global_control limit_;
  tbb::task_arena arena_;
  pin pin_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<for_each>(workers); });
}
