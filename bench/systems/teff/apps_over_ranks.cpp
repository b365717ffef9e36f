// The mini-apps over ranks: a teff::task_graph on each, and tiles that go from rank to rank as messages. A
// tile that has come fulfils what waits for it there, as one that was made there does.
#include <teff/message.hpp>
#include <teff/mpi.hpp>
#include <teff/task_graph.hpp>
#include <teff/version.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "teff/apps/drive_ranks.hpp"
#include "tiles_over_ranks.hpp"

namespace {

using namespace teff::apps;

class ranks_system final : public system {
 public:
  explicit ranks_system(way how) : how_(how) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "teff",
            .variant = how_ == way::large ? "ranks" : "ranks_small_messages",
            .version = teff::version()};
  }

  counts run(gemm& product, teff::bench::region_meter& region) override {
    using task = gemm::task;
    const process_grid grid = product.at().grid;
    const int rank = product.at().rank;
    const int tiles = product.tiles();
    const auto is_here = [&](int row, int column) { return grid.owner(row, column) == rank; };
    enum : int { a, b };

    teff::task_graph<task> graph(runtime_);
    // Its own tile, which starts with a call, and the inputs that are other ranks'.
    graph.indegree([&](task t) { return 1 + !is_here(t.row, t.step) + !is_here(t.step, t.column); })
        .priority([](task t) { return -t.step; });
    const auto arrived = [&](int matrix, int row, int column) {
      for (int i = 0; i < tiles; ++i) {
        const task reader = matrix == a ? task{column, row, i} : task{row, i, column};
        if (is_here(reader.row, reader.column)) graph.fulfill(reader);
      }
    };
    const auto send_all = [&](tile_messages& messages) {
      for (int step = 0; step < tiles; ++step)
        for (int i = 0; i < tiles; ++i) {
          if (is_here(i, step))
            for (int each = 0; each < std::min(grid.across, tiles); ++each)
              if (!is_here(i, each)) messages.send(grid.owner(i, each), a, i, step);
          if (is_here(step, i))
            for (int each = 0; each < std::min(grid.down, tiles); ++each)
              if (!is_here(each, i)) messages.send(grid.owner(each, i), b, step, i);
        }
    };
    std::int64_t own = 0;
    product.c().visit_own([&](int, int) { own += tiles; });
    return on_all_ranks(
        graph, {&product.a(), &product.b()}, own, arrived, region,
        [&](tile_messages& messages, tasks_left& left) {
          graph.body([&](task t) {
            product.execute(t);
            if (t.step + 1 < tiles) graph.fulfill({t.step + 1, t.row, t.column});
            left.one_done();
          });
          send_all(messages);
          product.c().visit_own([&](int row, int column) { graph.fulfill({0, row, column}); });
        });
  }

  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    using task = cholesky::task;
    const process_grid grid = factors.at().grid;
    const int rank = factors.at().rank;
    const auto owner = [&](task t) { return grid.owner(t.row, t.column); };

    teff::task_graph<task> graph(runtime_);
    graph.dense(static_cast<std::size_t>(factors.tasks()), [&](task t) { return factors.number(t); })
        .indegree([](task t) { return cholesky::indegree(t); })
        .priority([](task t) { return cholesky::priority(t); });
    const auto is_final = [&](int /*matrix*/, int row, int column) {
      factors.readers(row, column, [&](task reader) {
        if (owner(reader) == rank) graph.fulfill(reader);
      });
    };
    std::int64_t own = 0;
    factors.a().visit_own([&](int row, int column) { own += row >= column ? column + 1 : 0; });
    return on_all_ranks(graph, {&factors.a()}, own, is_final, region,
                        [&](tile_messages& messages, tasks_left& left) {
                          graph.body([&](task t) {
                            factors.execute(t);
                            if (cholesky::makes_final(t)) {
                              for (const int each : readers_elsewhere(factors, t))
                                messages.send(each, 0, t.row, t.column);
                              is_final(0, t.row, t.column);
                            } else {
                              graph.fulfill(cholesky::next(t));
                            }
                            left.one_done();
                          });
                          if (rank == 0) graph.fulfill({0, 0, 0});
                        });
  }

 private:
  /// Calls begin(messages, left) on a worker, and returns when `own` tasks of this rank, and all of the other
  /// ranks', have called left.one_done(). Between runs the main thread uses MPI: what uses it on workers
  /// lives no longer than that.
  template <class Graph, class Begin>
  counts on_all_ranks(Graph& graph, std::vector<const tiled_matrix*> matrices, std::int64_t own,
                      const tile_messages::arrival& arrived, teff::bench::region_meter& region, Begin begin) {
    int argc = 0;
    char** argv = nullptr;
    teff::mpi job(argc, argv);
    teff::communicator comm(runtime_, job);
    tile_messages messages(comm, how_, std::move(matrices), arrived);
    comm.run([] {});  // until all ranks are here
    region.start();
    tasks_left left(comm, own);
    comm.run([&] { begin(messages, left); });
    graph.wait();  // until the last task has returned
    region.stop();
    return {.tasks = own, .bytes_sent = messages.bytes()};
  }

  /// The other ranks that read a final tile.
  static std::vector<int> readers_elsewhere(const cholesky& factors, cholesky::task t) {
    std::vector<int> ranks;
    factors.readers(t.row, t.column, [&](cholesky::task reader) {
      const int owner = factors.at().grid.owner(reader.row, reader.column);
      if (owner != factors.at().rank && std::ranges::find(ranks, owner) == ranks.end())
        ranks.push_back(owner);
    });
    return ranks;
  }

  way how_;
  teff::runtime runtime_{{.workers = 1}};
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
  return drive_ranks(argc, argv, MPI_THREAD_SERIALIZED,
                     [&] { return std::make_unique<ranks_system>(small ? way::small : way::large); });
}
