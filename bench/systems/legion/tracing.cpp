// Index launches in traces: Legion analyses the dependences of a trace once, and replays it then. A trace has
// as many timesteps as it takes until the launches repeat.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>

#include "launches.hpp"

namespace {

class tracing final : public launches {
 public:
  explicit tracing(int workers) : launches("tracing", workers) {}

 private:
  void launch_all(Legion::Context context, teff::graphs::workload& work,
                  std::deque<graph_region>& graphs) override {
    const std::int64_t cycle = cycle_of(work);
    std::int64_t timestep = 0;
    if (cycle > 0) {
      launch_timestep(work, graphs, timestep++);  // the first timestep reads nothing
      const Legion::TraceID trace = runtime()->generate_dynamic_trace_id();
      for (const std::int64_t end = shortest(work); timestep + cycle <= end; timestep += cycle) {
        runtime()->begin_trace(context, trace);
        for (std::int64_t each = 0; each < cycle; ++each) launch_timestep(work, graphs, timestep + each);
        runtime()->end_trace(context, trace);
      }
    }
    for (; timestep < work.steps(); ++timestep) launch_timestep(work, graphs, timestep);
  }

  /// After how many timesteps all graphs' launches repeat: 0 if they do not, as the width varies.
  static std::int64_t cycle_of(const teff::graphs::workload& work) {
    std::int64_t cycle = 2;  // fields
    for (std::size_t i = 0; i < work.graphs(); ++i) {
      if (work.graph(i).pattern->varying_width) return 0;
      cycle = std::lcm(cycle, work.graph(i).dependence_sets());
    }
    return cycle;
  }
  /// For how many timesteps all graphs go on.
  static std::int64_t shortest(const teff::graphs::workload& work) {
    std::int64_t steps = work.steps();
    for (std::size_t i = 0; i < work.graphs(); ++i) steps = std::min(steps, work.graph(i).steps);
    return steps;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return teff::graphs::drive(argc, argv, [](int workers) { return std::make_unique<tracing>(workers); });
}
