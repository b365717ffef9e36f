// The mini-apps over ranks. Steps are tasks of a teff::flow on each rank. Tasks send and receive by
// teff::mpi, and end when MPI has sent or received. Tiles are computed by a teff::task_graph on each rank,
// and go from rank to rank as messages. A tile that has come fulfils the tasks that wait for it, as a local
// tile does.
#include <teff/message.hpp>
#include <teff/mpi.hpp>
#include <teff/named.hpp>
#include <teff/runtime.hpp>
#include <teff/task_graph.hpp>

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "flow_tasks.hpp"
#include "teff/apps/drive_ranks.hpp"
#include "teff/apps/loops_over_ranks.hpp"
#include "teff/apps/routes_of_tiles.hpp"
#include "tiles_over_ranks.hpp"

namespace {

using namespace teff::apps;

/// Steps, messages and reductions as tasks: each begins when the memory that it names is ready.
class flow_over_ranks final : public flow_tasks, public ranks_of_way {
 public:
  using flow_tasks::flow_tasks;

  [[nodiscard]] ranks_of_way& over() override { return *this; }
  /// It makes all sends first: if a receive fails, the flow drops tasks, and they shall have begun.
  void exchange(std::span<const crossing> all) override {
    // Accesses do not order the messages of different exchanges, so each exchange has a tag. It comes again
    // after all tags that every MPI has.
    const int tag = exchanges_++ & 0x7fff;
    for (const crossing& each : all)
      make_task(
          named(each.sent),
          teff::named<"send">([this, bytes = std::span<const std::byte>(each.sent.bytes()), to = each.rank,
                               tag] { in_mpi_ += time_in_mpi([&] { teff::mpi::isend(bytes, to, tag); }); }));
    for (const crossing& each : all)
      make_task(named(each.received),
                teff::named<"receive">([this, bytes = each.received.bytes(), from = each.rank, tag] {
                  in_mpi_ += time_in_mpi([&] { teff::mpi::irecv(bytes, from, tag); });
                }));
  }
  void reduce(const field& of, reduction by) override {
    const std::span numbers(reinterpret_cast<double*>(of.data), static_cast<std::size_t>(of.count));
    const auto operation = by == reduction::sum ? teff::mpi::operation::sum : teff::mpi::operation::smallest;
    make_task(teff::inout(numbers), teff::inout(order_of_reductions_),
              teff::named<"reduce">([this, numbers, operation] {
                in_mpi_ += time_in_mpi([&] { teff::mpi::iallreduce(numbers, operation); });
              }));
  }
  /// How many seconds tasks have spent in MPI.
  [[nodiscard]] double in_mpi() const { return in_mpi_; }

 private:
  int exchanges_ = 0;
  std::atomic<double> in_mpi_ = 0;
  char order_of_reductions_ = 0;  ///< MPI wants them in the same order on all ranks
};

class ranks_system final : public whole_system {
 public:
  ranks_system(message_size size, int workers)
      : size_(size), runtime_({.workers = static_cast<unsigned>(workers)}) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "teff",
            .variant = size_ == message_size::large ? "ranks" : "ranks_small_messages",
            .version = teff::version(),
            .workers = static_cast<int>(runtime_.workers())};
  }

  /// The size of tiles' messages is none of the steps'.
  [[nodiscard]] bool has(way_kind how) const override {
    return how != way_kind::graph && size_ == message_size::large;
  }
  [[nodiscard]] std::string_view variant(way_kind how) const override { return variant_of(how); }
  counts run_steps(way_kind how, std::int64_t tasks_of_step, const program& steps,
                   teff::bench::region_meter& region) override {
    int argc = 0;
    char** argv = nullptr;
    const teff::mpi job(argc, argv);
    const auto workers = static_cast<int>(runtime_.workers());
    if (how == way_kind::loops) {
      return runtime_.run([&] { return run_loops_on_all_ranks(workers, parallel_loop, steps, region); });
    }
    flow_over_ranks tasks(runtime_, tasks_of_step, how == way_kind::worksharing);
    double idle = 0;
    const program timed = [&](way& by) {
      const double before = idle_seconds();
      steps(by);
      idle = idle_seconds() - before;
    };
    const double at_end = runtime_.run([&] { return run_on_all_ranks(tasks, timed, region); });
    return {.tasks = tasks.made(), .waiting_seconds = idle + tasks.in_mpi() + workers * at_end};
  }

  counts run(gemm& product, teff::bench::region_meter& region) override {
    using task = gemm::task;
    const routes_of_tiles routes(product);

    teff::task_graph<task> graph(runtime_);
    // Beside what all systems wait for, the inputs that are other ranks'.
    graph.indegree([&](task t) { return product.indegree(t) + routes.awaited_by(t); }).priority([](task t) {
      return -t.column;  // a column of B stays in the cache, step after step
    });
    const auto arrived = [&](tile_messages& messages, int matrix, int row, int column) {
      routes.pass_on(messages.sender(), matrix, row, column);
      routes.visit_readers(matrix, row, column, [&](task reader) { graph.fulfill(reader); });
    };
    return on_all_ranks(graph, routes.matrices(), product.own_tasks(), arrived, region,
                        [&](tile_messages& messages, tasks_left& left) {
                          graph.body([&](task t) {
                            product.execute(t);
                            if (const auto next = product.next(t)) {
                              if (product.is_here(*next))
                                graph.fulfill(*next);
                              else
                                routes.send_sum(messages.sender(), t, *next);
                            }
                            left.one_done();
                          });
                          routes.send_own(messages.sender());
                          product.visit_first([&](task first) { graph.fulfill(first); });
                        });
  }

  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    using task = cholesky::task;

    teff::task_graph<task> graph(runtime_);
    graph.dense(static_cast<std::size_t>(factors.tasks()), [&](task t) { return factors.number(t); })
        .indegree([](task t) { return cholesky::indegree(t); })
        .priority([](task t) { return cholesky::priority(t); });
    const auto is_final = [&](int row, int column) {
      factors.readers(row, column, [&](task reader) {
        if (factors.is_here(reader)) graph.fulfill(reader);
      });
    };
    const auto arrived = [&](tile_messages&, int /*matrix*/, int row, int column) { is_final(row, column); };
    return on_all_ranks(graph, {&factors.a()}, factors.own_tasks(), arrived, region,
                        [&](tile_messages& messages, tasks_left& left) {
                          graph.body([&](task t) {
                            factors.execute(t);
                            if (cholesky::makes_final(t)) {
                              for (const int each : factors.readers_elsewhere(t.row, t.column))
                                messages.send(each, 0, t.row, t.column);
                              is_final(t.row, t.column);
                            } else {
                              graph.fulfill(cholesky::next(t));
                            }
                            left.one_done();
                          });
                          if (factors.is_here({0, 0, 0})) graph.fulfill({0, 0, 0});
                        });
  }

 private:
  /// Of all workers since they began: without a task.
  [[nodiscard]] double idle_seconds() const {
    const teff::counters all = runtime_.counters();
    return std::chrono::duration<double>(all.searching + all.parked).count();
  }

  /// Calls begin(messages, left) on a worker, and returns when `own` tasks of this rank, and all of the other
  /// ranks', have called left.one_done(). Between runs the main thread uses MPI, so the objects that use it
  /// on workers live no longer than a run.
  template <class Graph, class Begin>
  counts on_all_ranks(Graph& graph, std::vector<const tiled_matrix*> matrices, std::int64_t own,
                      const tile_messages::arrival& arrived, teff::bench::region_meter& region, Begin begin) {
    int argc = 0;
    char** argv = nullptr;
    teff::mpi job(argc, argv);
    teff::communicator comm(runtime_, job);
    tile_messages messages(comm, size_, std::move(matrices), arrived);
    comm.run([] {});  // until all ranks are here
    region.start();
    tasks_left left(comm, own);
    comm.run([&] { begin(messages, left); });
    graph.wait();  // until the last task has returned
    region.stop();
    return {.tasks = own, .bytes_sent = messages.bytes()};
  }

  message_size size_;
  teff::runtime runtime_;
};

}  // namespace

// With --small first, tiles go by small messages.
int main(int argc, char** argv) {
  const bool small = argc > 1 && std::strcmp(argv[1], "--small") == 0;
  if (small) {
    argv[1] = argv[0];
    ++argv;
    --argc;
  }
  return drive_ranks(argc, argv, MPI_THREAD_SERIALIZED, [&](int workers) {
    return std::make_unique<ranks_system>(small ? message_size::small : message_size::large, workers);
  });
}
