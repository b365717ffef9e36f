// Fibers and channels of Boost: each point of a graph is a fiber, which executes the point's tasks one after
// the other, and tells all that wait for it. A channel for each pair holds one message, so that a sender is
// at most a timestep ahead of who is slowest to receive. A fiber goes on where it waited unless it is stolen.
#include <boost/fiber/buffered_channel.hpp>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "stealing_threads.hpp"
#include "teff/graphs/adapter.hpp"
#include "teff/graphs/kept_outputs.hpp"
#include "teff/graphs/task_order.hpp"
#include "teff/graphs/task_rows.hpp"

namespace {

using namespace teff::bench;
using namespace teff::graphs;

using channel = boost::fibers::buffered_channel<std::int64_t>;  ///< of timesteps that are finished

/// Whom a task waits for, and who waits for it.
struct row {
  std::vector<channel*> receive;
  std::vector<channel*> send;
};

/// A graph as fibers run it, one a column.
class columns {
 public:
  columns(workload& work, std::size_t index)
      : work_(work),
        index_(index),
        table_(work.table(index)),
        outputs_(table_, kept),
        order_(table_),
        rows_(table_, {0, table_.graph().width - 1}, kept, std::bind_front(&columns::look_up, this)) {}

  [[nodiscard]] std::int64_t width() const { return table_.graph().width; }

  /// Executes the tasks of a point. Called in its fiber.
  void run(std::int64_t point) {
    row scratch;
    const std::int64_t steps = table_.graph().steps;
    for (std::int64_t timestep = 0; timestep < steps; ++timestep) {
      if (!table_.points(timestep).contains(point)) continue;
      const row& task = rows_.at(timestep, point, scratch, std::bind_front(&columns::look_up, this));
      for (channel* each : task.receive) each->value_pop();
      execute(timestep, point);
      if (timestep + 1 < steps)
        for (channel* each : task.send) each->push(timestep);
    }
  }

 private:
  static constexpr std::int64_t kept = 2;  ///< timesteps whose outputs are kept

  /// Not inline: between two calls a fiber may move to another thread, and what is its thread's with it.
  [[gnu::noinline]] void execute(std::int64_t timestep, std::int64_t point) {
    teff::graphs::execute(work_, outputs_, index_, timestep, point, stealing_threads::this_worker());
  }

  void look_up(std::int64_t timestep, std::int64_t point, row& task) {
    task.receive.clear();
    task.send.clear();
    order_.for_each_predecessor(timestep, point, [&](std::int64_t from) {
      if (from != point) task.receive.push_back(&between(from, point));
    });
    order_.for_each_successor(timestep, point, [&](std::int64_t to) {
      if (to != point) task.send.push_back(&between(point, to));
    });
  }

  /// Where the width varies, fibers look up their rows while others run.
  channel& between(std::int64_t from, std::int64_t to) {
    const std::lock_guard lock(guard_);
    return channels_.try_emplace({from, to}, 2).first->second;  // of the two places one stays empty
  }

  workload& work_;
  std::size_t index_;
  const dependence_table& table_;
  kept_outputs outputs_;
  task_order order_;
  std::mutex guard_;
  std::map<std::pair<std::int64_t, std::int64_t>, channel> channels_;
  task_rows<row> rows_;
};

class channels final : public adapter {
 public:
  explicit channels(int workers) : workers_(workers), threads_(workers) {}

  [[nodiscard]] identity describe() const override {
    return {.system = "boost_fiber", .variant = "channels", .version = boost_version(), .workers = workers_};
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
            graph.run(point);
          });
      ready.wait();
      work.start();
      ready.wait();
      for (boost::fibers::fiber& each : fibers) each.join();
      work.stop();
    });
  }

 private:
  int workers_;
  stealing_threads threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, [](int workers) { return std::make_unique<channels>(workers); });
}
