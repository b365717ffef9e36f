// teff::flow: one thread makes all tasks, which name the outputs that they read and write.
#include <teff/flow.hpp>
#include <teff/version.hpp>

#include <barrier>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

// A task that overwrites an output waits for those that read it: with eight timesteps kept, they have ended.
constexpr std::int64_t kept = 8;

class flow_adapter final : public adapter {
 public:
  explicit flow_adapter(int workers) : runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "teff",
            .variant = "flow",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  void run(workload& work) override {
    std::deque<kept_outputs> all = keep_outputs(work, kept);
    runtime_.run([&] {
      teff::flow f{runtime_};
      wake_all(f, work);
      const std::int64_t steps = work.steps();
      for (std::int64_t timestep = 0; timestep < steps; ++timestep)
        for (std::size_t index = 0; index < work.graphs(); ++index) {
          const interval points = work.table(index).points(timestep);
          for (std::int64_t point = points.first; point <= points.last; ++point)
            create(f, work, all[index], index, timestep, point);
        }
      f.wait();
      work.stop();
    });
  }

 private:
  struct started {
    workload& work;
    void operator()() noexcept { work.start(); }
  };

  /// The time starts when all workers are awake.
  void wake_all(teff::flow& f, workload& work) {
    std::barrier ready(static_cast<std::ptrdiff_t>(runtime_.workers()), started{work});
    for (unsigned worker = 0; worker < runtime_.workers(); ++worker)
      f.task(teff::task_options{.place = worker}, [&ready] { ready.arrive_and_wait(); });
    f.wait();
  }

  void create(teff::flow& f, workload& work, kept_outputs& all, std::size_t index, std::int64_t timestep,
              std::int64_t point) {
    accesses_.clear();
    for (const auto& each : all.inputs(timestep, point, scratch_)) accesses_.push_back(teff::in(each));
    accesses_.push_back(teff::out(all.at(timestep, point)));
    f.task(accesses_, [&work, &all, index, timestep, point] {
      execute(work, all, index, timestep, point, static_cast<int>(teff::worker_index()));
    });
  }

  teff::runtime runtime_;
  std::vector<input> scratch_;
  std::vector<teff::access> accesses_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<flow_adapter>(workers); });
}
