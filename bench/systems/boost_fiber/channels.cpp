// Fibers and channels of Boost. Each point of a graph is a fiber, which executes the point's tasks one after
// the other and tells all fibers that wait for it. A channel for each pair holds one message, so a sender is
// at most a timestep ahead of its slowest receiver. A fiber goes on where it waited unless it is stolen.
#include <boost/fiber/buffered_channel.hpp>

#include <deque>
#include <vector>

#include "stealing_threads.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/linked_columns.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

/// From one column to another: of timesteps that are finished. Of its two places one stays empty.
struct link {
  boost::fibers::buffered_channel<std::int64_t> timesteps{2};
};
using columns = linked_columns<link>;

void run(columns& graph, std::int64_t point) {
  graph.run(
      point, stealing_threads::this_worker, [](link& from) { from.timesteps.value_pop(); },
      [](link& to, std::int64_t timestep) { to.timesteps.push(timestep); });
}

class channels final : public adapter {
 public:
  explicit channels(int workers) : threads_(workers) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "boost_fiber",
            .variant = "channels",
            .version = boost_version(),
            .workers = threads_.workers()};
  }

  void run(workload& work) override {
    std::deque<columns> graphs;
    std::size_t count = 1;
    for (std::size_t i = 0; i < work.graphs(); ++i)
      count += static_cast<std::size_t>(graphs.emplace_back(work, i).width());
    threads_.run([&] {
      boost::fibers::barrier ready(count);
      std::vector<boost::fibers::fiber> fibers;
      for (columns& graph : graphs)
        for (std::int64_t point = 0; point < graph.width(); ++point)
          fibers.emplace_back([&ready, &graph, point] {
            ready.wait();
            ready.wait();
            ::run(graph, point);
          });
      ready.wait();
      work.start();
      ready.wait();
      for (boost::fibers::fiber& each : fibers) each.join();
      work.stop();
    });
  }

 private:
  stealing_threads threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<channels>(workers); });
}
