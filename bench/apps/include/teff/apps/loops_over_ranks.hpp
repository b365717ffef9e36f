#pragma once

#include <mpi.h>

#include <utility>
#include <vector>

#include "teff/apps/ways.hpp"
#include "teff/bench/noise.hpp"

namespace teff::apps {

/// Loops on each rank, and messages between them: the thread that makes the steps waits for all messages of
/// an exchange.
template <class Loop>
class loops_over_ranks final : public way {
 public:
  explicit loops_over_ranks(Loop loop) : on_this_rank_(std::move(loop)) {}

  void run(const step& each) override { on_this_rank_.run(each); }
  void exchange(std::span<const crossing> all) override {
    requests_.resize(2 * all.size());
    MPI_Request* next = requests_.data();
    for (const crossing& each : all)
      MPI_Irecv(each.received.bytes().data(), static_cast<int>(each.received.bytes().size()), MPI_BYTE,
                each.rank, 0, MPI_COMM_WORLD, next++);
    for (const crossing& each : all)
      MPI_Isend(each.sent.bytes().data(), static_cast<int>(each.sent.bytes().size()), MPI_BYTE, each.rank, 0,
                MPI_COMM_WORLD, next++);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  void reduce(const field& of, reduction by) override {
    MPI_Allreduce(MPI_IN_PLACE, of.data, static_cast<int>(of.count), MPI_DOUBLE,
                  by == reduction::sum ? MPI_SUM : MPI_MIN, MPI_COMM_WORLD);
  }
  void wait() override {}

 private:
  loops<Loop> on_this_rank_;
  std::vector<MPI_Request> requests_;
};

/// Runs steps(way), from all ranks ready to all ranks done.
template <class Way>
void run_on_all_ranks(Way& way, const program& steps, bench::region_meter& region) {
  MPI_Barrier(MPI_COMM_WORLD);
  region.start();
  steps(way);
  MPI_Barrier(MPI_COMM_WORLD);
  region.stop();
}

}  // namespace teff::apps
