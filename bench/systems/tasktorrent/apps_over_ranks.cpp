// The mini-apps on TaskTorrent over MPI ranks, each with one worker: tiles are large messages, from memory to
// memory.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pinned_pool.hpp"
#include "teff/apps/drive_ranks.hpp"
#include "teff/apps/system.hpp"
#include "tile_flows.hpp"

namespace {

using teff::apps::counts;

class ranks_system final : public teff::apps::whole_system {
 public:
  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "tasktorrent", .variant = "ranks", .version = "1.0"};
  }
  counts run(teff::apps::gemm& product, teff::bench::region_meter& region) override {
    return on_all_ranks<gemm_flow>(product, region);
  }
  counts run(teff::apps::cholesky& factors, teff::bench::region_meter& region) override {
    return on_all_ranks<cholesky_flow>(factors, region);
  }

 private:
  template <class Flow, class App>
  static counts on_all_ranks(const App& app, teff::bench::region_meter& region) {
    ttor::Communicator messages(MPI_COMM_WORLD);
    pinned_pool<ttor::Threadpool> threads(1, &messages, 0, "Wk_", false);
    ttor::ActiveMsg<int, int, int>* message = nullptr;
    std::atomic<std::int64_t> bytes = 0;
    std::vector<const teff::apps::tiled_matrix*> matrices;
    const auto place = [&](int matrix, int row, int column) {
      return matrices[static_cast<std::size_t>(matrix)]->at(row, column).elements();
    };
    Flow flow(app, threads.pool(), [&](int rank, int matrix, int row, int column) {
      const auto elements = place(matrix, row, column);
      bytes.fetch_add(static_cast<std::int64_t>(elements.size_bytes()), std::memory_order_relaxed);
      ttor::view<double> tile(elements.data(), elements.size());
      message->send_large(rank, tile, matrix, row, column);
    });
    matrices = flow.matrices();
    message = messages.make_large_active_msg(
        [&](int& matrix, int& row, int& column) { flow.arrived(matrix, row, column); },
        [&](int& matrix, int& row, int& column) { return place(matrix, row, column).data(); },
        [](int&, int&, int&) {});  // no task writes to a tile that was sent

    threads.gather();
    // No rank sends before all have left the communicator of the run before, which would take it for its own.
    MPI_Barrier(MPI_COMM_WORLD);
    region.start();
    threads.open();
    flow.begin();
    threads.pool().join();
    region.stop();
    return {.tasks = flow.own_tasks(), .bytes_sent = bytes.load(std::memory_order_relaxed)};
  }
};

}  // namespace

int main(int argc, char** argv) {
  return teff::apps::drive_ranks(argc, argv, MPI_THREAD_FUNNELED,
                                 [](int) { return std::make_unique<ranks_system>(); });
}
