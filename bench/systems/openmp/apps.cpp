// The mini-apps on OpenMP: tasks with depend clauses, on the tiles that they read and write, and priorities.
#include <vector>

#include "runtime.hpp"
#include "teff/apps/drive.hpp"

namespace {

using namespace teff::apps;

class depend_system final : public system {
 public:
  explicit depend_system(int workers) : team_(start_team(workers)) {
#pragma omp parallel
    bind_thread();
  }

  [[nodiscard]] teff::bench::identity describe() const override { return identify("tasks", team_); }

  counts run(gemm& product, teff::bench::region_meter& region) override {
    const int tiles = product.tiles();
    in_parallel(region, [&] {
      for (int column = 0; column < tiles; ++column)
        for (int row = 0; row < tiles; ++row) {
          const auto sum = [&](int layer) { return product.sum(layer).at(row, column).data; };
          for (int step = 0; step < tiles; ++step) {
            double* const own = sum(product.layer({step, row, column}));
#pragma omp task depend(inout : *own) firstprivate(step, row, column) shared(product)
            product.execute({step, row, column});
          }
          double* const all = sum(0);
          for (int layer = 1; layer < product.layers(); ++layer) {
            double* const added = sum(layer);
            const int step = tiles + layer - 1;
#pragma omp task depend(inout : *all) depend(in : *added) firstprivate(step, row, column) shared(product)
            product.execute({step, row, column});
          }
        }
    });
    return {.tasks = product.tasks()};
  }

  /// Tasks are made step by step, as a program of one thread would do their work.
  counts run(cholesky& factors, teff::bench::region_meter& region) override {
    const int tiles = factors.tiles();
    const int most = tiles;
    const auto tile_at = [&](int row, int column) { return factors.a().at(row, column).data; };
    in_parallel(region, [&] {
      for (int step = 0; step < tiles; ++step)
        for (int column = step; column < tiles; ++column)
          for (int row = column; row < tiles; ++row) {
            double* const own = tile_at(row, column);
            // Its inputs, where it has them: final tiles, which other tasks may read at the same time.
            double* const left = row > step ? tile_at(row, step) : own;
            double* const above = column > step ? tile_at(column, step) : tile_at(step, step);
            const int priority = most + cholesky::priority({step, row, column});
            if (row == step) {
#pragma omp task depend(inout : *own) priority(priority) firstprivate(step, row, column) shared(factors)
              factors.execute({step, row, column});
            } else if (column == step) {
#pragma omp task depend(inout : *own) depend(in : *above) priority(priority) firstprivate(step, row, column) \
    shared(factors)
              factors.execute({step, row, column});
            } else {
#pragma omp task depend(inout : *own) depend(in : *left, *above) priority(priority) \
    firstprivate(step, row, column) shared(factors)
              factors.execute({step, row, column});
            }
          }
    });
    return {.tasks = factors.tasks()};
  }

 private:
  /// One thread makes the tasks, and all run them.
  template <class Make>
  static void in_parallel(teff::bench::region_meter& region, Make make) {
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp single
      {
        region.start();
        make();
#pragma omp taskwait
        region.stop();
      }
    }
  }

  int team_;
};

}  // namespace

int main(int argc, char** argv) {
  return drive<depend_system>(argc, argv, cores());
}
