#include "teff/apps/drive_ranks.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps_benchmark.hpp"
#include "runner.hpp"
#include "teff/apps/kernels.hpp"
#include "teff/bench/failure.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace teff::apps {
namespace {

static_assert(std::is_trivially_copyable_v<outcome>);

/// The ranks of the job, with the batch protocol of the task-graph adapters. A failure on one rank ends the
/// batch on all. There is no graph to run.
class job final : public graphs::mpi_adapter {
 public:
  using mpi_adapter::mpi_adapter;
  using mpi_adapter::saw_workers;

  [[nodiscard]] bench::identity describe() const override { return identify({}, {}); }

 private:
  void prepare(graphs::workload& /*work*/) override {}
  void execute(graphs::workload& /*work*/) override {}
};

template <class Number>
void add(std::optional<Number>& to, const std::optional<Number>& more) {
  if (more) to = to.value_or(0) + *more;
}

class company_of_ranks final : public company {
 public:
  explicit company_of_ranks(int workers) : job_(workers) {}

  /// Makes the system of this rank. All ranks call it, once.
  [[nodiscard]] std::unique_ptr<system> start(
      const std::function<std::unique_ptr<system>(int workers)>& make) {
    auto made = make(std::max(job_.local_workers(), 1));
    job_.saw_workers(made->describe().workers);
    return made;
  }

  [[nodiscard]] bench::ranks& protocol() override { return job_; }
  [[nodiscard]] int rank() const override { return job_.rank(); }
  [[nodiscard]] int size() const override { return job_.ranks(); }
  [[nodiscard]] bench::identity identify(bench::identity who) const override {
    bench::identity all = job_.describe();
    all.system = std::move(who.system);
    all.variant = std::move(who.variant);
    all.limits = std::move(who.limits);
    if (!who.version.empty()) all.version = std::move(who.version) + ", " + all.version;
    return all;
  }
  void meet() const override { MPI_Barrier(MPI_COMM_WORLD); }
  void add_up(std::span<double> values) const override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  [[nodiscard]] outcome united(const outcome& mine) const override {
    std::vector<outcome> all(static_cast<std::size_t>(size()));
    MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, 0, MPI_COMM_WORLD);
    outcome one = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) {
      add(one.counted.tasks, all[i].counted.tasks);
      add(one.counted.bytes_sent, all[i].counted.bytes_sent);
      add(one.counted.waiting_seconds, all[i].counted.waiting_seconds);
      one.elapsed_seconds = std::max(one.elapsed_seconds, all[i].elapsed_seconds);
      one.seen += all[i].seen;
    }
    return one;
  }

 private:
  job job_;
};

}  // namespace

int drive_ranks(int argc, char** argv, int thread_level,
                const std::function<std::unique_ptr<system>(int workers)>& make) {
  int given = 0;
  int rank = 0;
  int ranks = 1;
  MPI_Init_thread(&argc, &argv, thread_level, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (given < thread_level) {
    fmt::print(stderr, "error: this MPI has not the support of threads that is needed\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  int code = 0;
  try {
    const std::optional<way_kind> only = take_way(argc, argv);
    kernels::use_threads(1);
    const apps_benchmark kind;
    const auto start = [&](int workers) {
      auto all = std::make_unique<company_of_ranks>(workers);
      auto here = all->start(make);
      return std::make_unique<runner>(std::move(all), std::move(here), only);
    };
    if (rank == 0 || bench::needs_system(argc, argv, kind))
      code = bench::drive(argc, argv, kind, start, ranks);
  } catch (const bench::usage_error& failure) {
    if (rank == 0) fmt::print(stderr, "error: {}\n", failure.what());
    code = 2;
  }
  MPI_Finalize();
  return code;
}

}  // namespace teff::apps
