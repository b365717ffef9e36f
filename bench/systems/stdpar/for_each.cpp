// C++17's parallel algorithms, bulk-synchronous: one std::for_each over the points of each timestep, whose
// end is the dependence. libstdc++ runs it on oneTBB, which also says the number of threads and the index of
// this one.
#include <algorithm>
#include <execution>
#include <vector>

#include "../tbb/pinned_arena.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/columns.hpp"
#include "teff/graphs/kept_outputs.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

class for_each final : public adapter {
 public:
  explicit for_each(int workers) : arena_(workers) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "stdpar",
            .variant = "for_each",
            .version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE) + ", " + tbb_version(),
            .workers = arena_.workers()};
  }

  void run(workload& work) override {
    const std::vector<column> columns = columns_of(work);
    std::deque<kept_outputs> all = keep_outputs(work, 2);
    const std::int64_t steps = work.steps();
    arena_.execute([&] {
      arena_.wake_all();
      work.start();
      for (std::int64_t timestep = 0; timestep < steps; ++timestep)
        std::for_each(std::execution::par, columns.begin(), columns.end(), [&](const column& of) {
          if (work.table(of.graph).points(timestep).contains(of.point))
            execute(work, all[of.graph], of.graph, timestep, of.point,
                    tbb::this_task_arena::current_thread_index());
        });
      work.stop();
    });
  }

 private:
  pinned_arena arena_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<for_each>(workers); });
}
