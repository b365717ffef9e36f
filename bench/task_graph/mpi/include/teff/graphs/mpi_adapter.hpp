#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "teff/graphs/adapter.hpp"
#include "teff/graphs/rank_columns.hpp"

namespace teff::graphs {

/// An adapter of several MPI ranks. If a rank fails before the timed region, the run's record says why. If it
/// fails in the region, where others wait for it, it says so on stderr and ends the job.
class mpi_adapter : public adapter {
 public:
  /// One worker a rank. MPI must have been initialised.
  mpi_adapter();
  /// `workers` over all ranks.
  explicit mpi_adapter(int workers);
  ~mpi_adapter() override;

  [[nodiscard]] int rank() const final { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Rank r has the workers from r x workers / ranks to before (r + 1) x workers / ranks.
  [[nodiscard]] int local_workers() const final;
  void broadcast(std::string& text) final;
  std::vector<outcome> gather(const outcome& mine) final;
  [[nodiscard]] std::string agree(std::string reason) final;
  [[noreturn]] void give_up(const std::string& reason) final;
  void run(workload& work) final;

 protected:
  /// Prepares, outside the timed region, the data that execute() needs. May throw, also on some ranks only,
  /// so nothing in it may wait for other ranks.
  virtual void prepare(workload& work) = 0;
  /// Runs all tasks between start(work) and stop(work).
  virtual void execute(workload& work) = 0;

  /// Calls step(). Throws on all ranks where it throws on one. For the start, before ranks wait for each
  /// other.
  void together(const std::function<void()>& step) const;

  /// The timed region, from all ranks ready to all ranks done.
  void start(workload& work) const;
  void stop(workload& work) const;

  /// This rank's part of every graph. Throws where MPI has no such tags or counts.
  [[nodiscard]] std::vector<rank_columns> make_columns(const workload& work) const;
  /// The communicator of a graph: its own, so that tags need to tell points apart and nothing else.
  [[nodiscard]] MPI_Comm communicator(std::size_t graph) const { return communicators_[graph]; }
  /// Says how many workers this rank was seen to have. All ranks call it, once; without it each rank has one.
  void saw_workers(int here);
  /// Of a runtime on top of MPI, `release` is its own, which the version then begins with.
  [[nodiscard]] bench::identity identify(std::string system, std::string variant,
                                         const std::string& release = {}) const;

 private:
  int rank_ = 0;
  int ranks_ = 1;
  int workers_;                          ///< asked for
  int seen_;                             ///< on all ranks
  MPI_Comm control_ = MPI_COMM_NULL;     ///< the batch's: no task's message can meet one of these
  std::vector<MPI_Comm> communicators_;  ///< kept from run to run: as many as the most graphs so far
};

/// drive() for a program that mpirun starts; `thread_level` as MPI_Init_thread takes it. `make` as drive()
/// takes it; it may throw on some ranks only.
int drive_ranks(int argc, char** argv, int thread_level,
                const std::function<std::unique_ptr<adapter>(int workers)>& make);

}  // namespace teff::graphs
