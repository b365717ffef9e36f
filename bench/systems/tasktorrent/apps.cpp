// The mini-apps on TaskTorrent, in one process: no tile is sent.
#include "pinned_pool.hpp"
#include "teff/apps/drive.hpp"
#include "tile_flows.hpp"

namespace {

using teff::apps::counts;

class taskflow_system final : public teff::apps::whole_system {
 public:
  explicit taskflow_system(int workers)
      : threads_(pinned_pool<ttor::Threadpool>::count(workers, 0, "Wk_", false)) {}

  [[nodiscard]] teff::bench::identity describe() const override {
    return {.system = "tasktorrent", .variant = "taskflow", .version = "1.0", .workers = threads_};
  }
  counts run(teff::apps::gemm& product, teff::bench::region_meter& region) override {
    return timed<gemm_flow>(product, region);
  }
  counts run(teff::apps::cholesky& factors, teff::bench::region_meter& region) override {
    return timed<cholesky_flow>(factors, region);
  }

 private:
  template <class Flow, class App>
  counts timed(const App& app, teff::bench::region_meter& region) const {
    pinned_pool<ttor::Threadpool> threads(threads_, 0, "Wk_", false);
    Flow flow(app, threads.pool(), {});
    threads.gather();
    region.start();
    threads.open();
    flow.begin();
    threads.pool().join();
    region.stop();
    return {.tasks = flow.own_tasks()};
  }

  int threads_;
};

}  // namespace

int main(int argc, char** argv) {
  return teff::apps::drive<taskflow_system>(argc, argv);
}
