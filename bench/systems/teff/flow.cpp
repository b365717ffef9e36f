// teff::flow: one thread makes all tasks. Each task names the outputs that it reads and writes. With
// --replay, the flow records one period of timesteps while it runs, and replays it as often as it fits. With
// --for, all columns of a timestep are one worksharing task.
#include <teff/flow.hpp>
#include <teff/runtime.hpp>

#include <barrier>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/owned_columns.hpp"
#include "teff/graphs/period.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

// A task that overwrites an output waits for its readers. With eight timesteps kept, they have ended.
// The tasks of a period name the same outputs each time, so a replay keeps two.
constexpr std::int64_t kept = 8;
constexpr std::int64_t kept_replayed = 2;

enum class way { tasks, replayed, shared };

class execution {
 public:
  execution(teff::runtime& rt, workload& work, way how)
      : work_(work),
        workers_(rt.workers()),
        how_(how),
        period_(how == way::replayed ? with_inputs(find_period(work)) : period{}),
        outputs_(keep_outputs(work, how == way::replayed ? kept_replayed : kept)),
        flow_(rt) {
    if (how != way::replayed) return;
    for (std::size_t i = 0; i < work.graphs(); ++i)
      columns_.push_back(std::make_unique<owned_columns>(work, i, work.workers(), false));
  }

  /// On a worker.
  void run() {
    wake_all();
    if (period_.repeats > 0) {
      make(0, period_.first, 0);
      auto one_period =
          flow_.record([this] { make(period_.first, period_.first + period_.length, period_.length); });
      one_period.replay(static_cast<std::uint64_t>(period_.repeats - 1));
    }
    make(period_.end(), work_.steps(), 0);
    flow_.wait();
    work_.stop();
  }

 private:
  /// Moves the period past timestep 0, whose tasks name no inputs.
  static period with_inputs(period all) {
    if (all.repeats > 0 && all.first == 0) all = {all.length, all.length, all.repeats - 1};
    return all;
  }
  struct started {
    workload& work;
    void operator()() noexcept { work.start(); }
  };

  /// The time starts when all workers are awake.
  void wake_all() {
    std::barrier ready(static_cast<std::ptrdiff_t>(workers_), started{work_});
    for (unsigned worker = 0; worker < workers_; ++worker)
      flow_.task(teff::task_options{.place = worker}, [&ready] { ready.arrive_and_wait(); });
    flow_.wait();
  }

  /// Makes the tasks of the timesteps [first, end). At each further call, a body runs `later` timesteps
  /// later.
  void make(std::int64_t first, std::int64_t end, std::int64_t later) {
    for (std::int64_t timestep = first; timestep < end; ++timestep)
      for (std::size_t index = 0; index < work_.graphs(); ++index) {
        const interval points = work_.table(index).points(timestep);
        if (how_ == way::shared)
          make_loop(index, timestep, points);
        else
          for (std::int64_t point = points.first; point <= points.last; ++point)
            make_task(index, timestep, point, later);
      }
  }
  void make_loop(std::size_t index, std::int64_t timestep, interval points) {
    const auto row = [&](std::int64_t of) {
      const std::int64_t last = work_.table(index).graph().width - 1;
      const auto first = outputs_[index].at(of, 0);
      return std::span(first.data(), outputs_[index].at(of, last).data() + first.size());
    };
    const auto before = timestep == 0 ? std::span<std::byte>() : row(timestep - 1);
    flow_.task_for(points.first, points.last + 1, teff::in(before), teff::out(row(timestep)),
                   [this, index, timestep](teff::range some) {
                     const auto worker = static_cast<int>(*teff::worker_index());
                     for (const auto point : some)
                       execute(work_, outputs_[index], index, timestep, point, worker);
                   });
  }
  void make_task(std::size_t index, std::int64_t timestep, std::int64_t point, std::int64_t later) {
    auto& outputs = outputs_[index];
    accesses_.clear();
    for (const auto& each : outputs.inputs(timestep, point, scratch_)) accesses_.push_back(teff::in(each));
    accesses_.push_back(teff::out(outputs.at(timestep, point)));
    teff::task_options how;
    if (!columns_.empty()) how.place = static_cast<unsigned>(columns_[index]->owner(point));
    flow_.task(how, accesses_, [this, index, timestep, point, later]() mutable {
      execute(work_, outputs_[index], index, timestep, point, static_cast<int>(*teff::worker_index()));
      timestep += later;
    });
  }

  workload& work_;
  const unsigned workers_;
  const way how_;
  const period period_;
  std::deque<kept_outputs> outputs_;
  std::vector<std::unique_ptr<owned_columns>> columns_;
  std::vector<input> scratch_;
  std::vector<teff::access> accesses_;
  teff::flow flow_;
};

class flow_adapter final : public adapter {
 public:
  flow_adapter(int workers, way how) : runtime_({.workers = static_cast<unsigned>(workers)}), how_(how) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "teff",
            .variant = how_ == way::replayed ? "flow_replay"
                       : how_ == way::shared ? "flow_for"
                                             : "flow",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  void run(workload& work) override {
    execution all(runtime_, work, how_);
    runtime_.run([&] { all.run(); });
  }

 private:
  teff::runtime runtime_;
  way how_;
};

}  // namespace

// With --replay first, one period is replayed. With --for first, a timestep is a worksharing task.
int main(int argc, char** argv) {
  auto how = way::tasks;
  if (argc > 1 && std::strcmp(argv[1], "--replay") == 0) how = way::replayed;
  if (argc > 1 && std::strcmp(argv[1], "--for") == 0) how = way::shared;
  if (how != way::tasks) {
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  return drive(argc, argv, [&](int workers) { return std::make_unique<flow_adapter>(workers, how); });
}
