#pragma once

#include <mpi.h>

#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "teff/apps/system.hpp"
#include "teff/apps/ways.hpp"
#include "teff/bench/noise.hpp"

namespace teff::apps {

/// Calls functions of MPI. Returns the seconds that the call took.
template <class Call>
double time_in_mpi(const Call& call) {
  const auto began = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

/// Loops on each rank, and messages between them: the thread that makes the steps waits for all messages of
/// an exchange.
template <class Loop>
class loops_over_ranks final : public way, public ranks_of_way {
 public:
  explicit loops_over_ranks(Loop loop) : on_this_rank_(std::move(loop)) {}

  void run(const step& each) override { on_this_rank_.run(each); }
  [[nodiscard]] ranks_of_way& over() override { return *this; }
  void exchange(std::span<const crossing> all) override {
    requests_.resize(2 * all.size());
    in_mpi_ += time_in_mpi([&] {
      MPI_Request* next = requests_.data();
      for (const crossing& each : all)
        MPI_Irecv(each.received.bytes().data(), static_cast<int>(each.received.bytes().size()), MPI_BYTE,
                  each.rank, 0, MPI_COMM_WORLD, next++);
      for (const crossing& each : all)
        MPI_Isend(each.sent.bytes().data(), static_cast<int>(each.sent.bytes().size()), MPI_BYTE, each.rank,
                  0, MPI_COMM_WORLD, next++);
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    });
  }
  void reduce(const field& of, reduction by) override {
    in_mpi_ += time_in_mpi([&] {
      MPI_Allreduce(MPI_IN_PLACE, of.data, static_cast<int>(of.count), MPI_DOUBLE,
                    by == reduction::sum ? MPI_SUM : MPI_MIN, MPI_COMM_WORLD);
    });
  }
  void wait() override {}
  /// How many seconds the thread that makes the steps has spent in MPI.
  [[nodiscard]] double in_mpi() const { return in_mpi_; }

 private:
  loops<Loop> on_this_rank_;
  std::vector<MPI_Request> requests_;
  double in_mpi_ = 0;
};

/// Runs steps(way), from all ranks ready to all ranks done. Returns the seconds in which this rank, at the
/// end, has waited for the others.
template <class Way>
[[nodiscard]] double run_on_all_ranks(Way& way, const program& steps, bench::region_meter& region) {
  MPI_Barrier(MPI_COMM_WORLD);
  region.start();
  steps(way);
  const double waited = time_in_mpi([] { MPI_Barrier(MPI_COMM_WORLD); });
  region.stop();
  return waited;
}

/// Runs the steps as loops that `workers` workers of this rank share. Returns how long the workers waited:
/// all of them wait while the thread that makes the steps is in MPI.
template <class Loop>
[[nodiscard]] counts run_loops_on_all_ranks(int workers, Loop loop, const program& steps,
                                            bench::region_meter& region) {
  loops_over_ranks each(std::move(loop));
  const double at_end = run_on_all_ranks(each, steps, region);
  return {.waiting_seconds = workers * (each.in_mpi() + at_end)};
}

}  // namespace teff::apps
