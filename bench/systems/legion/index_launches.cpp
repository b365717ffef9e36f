// Index launches: all tasks of a timestep at once, with a region requirement for their writes and one for
// their reads. Legion finds the dependences, and its default mapper has all points of a graph in one
// instance, so that nothing is copied on one machine.
#include <cstdint>
#include <memory>

#include "launches.hpp"

namespace {

class index_launches final : public launches {
 public:
  explicit index_launches(int workers) : launches("index_launches", workers) {}

 private:
  void launch_all(Legion::Context, teff::graphs::workload& work, std::deque<graph_region>& graphs) override {
    for (std::int64_t timestep = 0; timestep < work.steps(); ++timestep)
      launch_timestep(work, graphs, timestep);
  }
};

}  // namespace

int main(int argc, char** argv) {
  return teff::graphs::drive(argc, argv,
                             [](int workers) { return std::make_unique<index_launches>(workers); });
}
