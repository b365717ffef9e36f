#include "teff/messages/drive.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include "messages_benchmark.hpp"
#include "teff/bench/drive.hpp"
#include "teff/bench/failure.hpp"
#include "teff/bench/measure.hpp"
#include "teff/graphs/mpi_adapter.hpp"

namespace teff::messages {
namespace {

using bench::json;

constexpr int ranks_needed = 2;
constexpr double idle_unit = 10;            // seconds: idle CPU time is given for so long
constexpr double least_cpu_seconds = 1e-6;  // the kernel's resolution

/// The ranks of the job, with the batch protocol of the task-graph adapters. A failure on one rank ends the
/// batch on all. There is no graph to run.
class job final : public graphs::mpi_adapter {
 public:
  explicit job(const peer_name& who) : who_(who) {}
  [[nodiscard]] bench::identity describe() const override {
    bench::identity all = identify(who_.system, who_.variant);
    if (!who_.version.empty()) all.version = who_.version + ", " + all.version;
    return all;
  }

 private:
  void prepare(graphs::workload& /*work*/) override {}
  void execute(graphs::workload& /*work*/) override {}

  peer_name who_;
};

/// The results of a rank. Ranks send it as its bytes.
struct outcome {
  tally seen;
  double elapsed_seconds;
  bench::noise noise;
};
static_assert(std::is_trivially_copyable_v<outcome>);

std::array<outcome, ranks_needed> gathered(const outcome& mine) {
  std::array<outcome, ranks_needed> all{};
  MPI_Gather(&mine, sizeof(mine), MPI_BYTE, all.data(), sizeof(mine), MPI_BYTE, 0, MPI_COMM_WORLD);
  return all;
}

std::string hexadecimal(std::uint64_t value) {
  return fmt::format("0x{:016x}", value);
}

/// The time that the run is about: see work.hpp. Of an idle one, CPU time of both ranks in ten seconds.
double seconds_of(const work& asked, const std::array<outcome, ranks_needed>& ranks) {
  if (asked.what != pattern::idle)
    return ranks[0].elapsed_seconds / static_cast<double>(asked.turns * asked.parts());
  double cpu = 0;
  for (const outcome& each : ranks)
    cpu += std::max(each.noise.cpu_seconds, least_cpu_seconds) / each.elapsed_seconds;
  return cpu * idle_unit;
}

json parameters(const work& asked) {
  json all{{"pattern", name(asked.what)}};
  if (asked.what == pattern::one_way) all["bytes"] = asked.bytes;
  if (asked.what == pattern::burst) all["window"] = asked.window;
  if (asked.what == pattern::idle)
    all["idle_seconds"] = asked.idle_seconds;
  else
    all["turns"] = asked.turns;
  return all;
}

void run_pattern(peer& system, trial& at) {
  switch (at.asked().what) {
    case pattern::one_way:
      return system.one_way(at);
    case pattern::burst:
      return system.burst(at);
    case pattern::chain:
      return system.chain(at);
    case pattern::idle:
      return system.idle(at);
  }
}

/// Puts the results of a run on both ranks into the record of rank 0.
void conclude(const work& asked, bench::measurement measured, const std::array<outcome, ranks_needed>& ranks,
              bench::record& run) {
  json arrived = json::array();
  for (int rank = 0; rank < ranks_needed; ++rank) {
    const tally due = expected(asked, rank);
    const tally& seen = ranks.at(static_cast<std::size_t>(rank)).seen;
    if (seen != due && run.error.empty())
      run.error = fmt::format("rank {} received {} messages of {}, or others than were sent", rank,
                              seen.count, due.count);
    arrived.push_back(
        {{"messages", seen.count}, {"checksum", hexadecimal(seen.sum)}, {"expected", hexadecimal(due.sum)}});
  }
  measured.validation = {{"passed", run.error.empty()}, {"ranks", std::move(arrived)}};
  measured.elapsed_seconds = ranks[0].elapsed_seconds;
  measured.seen = ranks[0].noise;
  measured.seen += ranks[1].noise;
  run.measured = std::move(measured);
  run.own["seconds"] = seconds_of(asked, ranks);
}

class runner_on_ranks final : public bench::runner {
 public:
  runner_on_ranks(const peer_name& who, std::unique_ptr<peer> system)
      : job_(who), system_(std::move(system)) {}

  [[nodiscard]] bench::identity describe() const override { return job_.describe(); }
  [[nodiscard]] bench::ranks& processes() override { return job_; }
  void prepare(const bench::flags& of_run) override {
    asked_ = parse_work(of_run);
    if (job_.ranks() != ranks_needed)
      throw bench::usage_error(fmt::format("{} ranks: two are needed", job_.ranks()));
  }
  [[nodiscard]] bench::answer run() override {
    bench::record run{.who = describe()};
    run.own["parameters"] = parameters(asked_);
    tally seen;
    bench::measurement measured = bench::measure([&](bench::region_meter& region) {
      trial at(asked_, job_.rank(), region);
      MPI_Barrier(MPI_COMM_WORLD);
      try {
        run_pattern(*system_, at);
      } catch (const std::exception& failure) {
        job_.give_up(bench::reason_of(failure));  // the other one may wait for its messages
      }
      seen = at.seen();
    });
    const auto ranks = gathered({seen, measured.elapsed_seconds, measured.seen});
    if (job_.rank() == 0) conclude(asked_, std::move(measured), ranks, run);
    return {.said = std::move(run)};
  }

 private:
  job job_;
  std::unique_ptr<peer> system_;
  work asked_;
};

}  // namespace

int drive(int argc, char** argv, int thread_level, const peer_name& who,
          const std::function<std::unique_ptr<peer>()>& make) {
  int given = 0;
  int rank = 0;
  MPI_Init_thread(&argc, &argv, thread_level, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (given < thread_level) {
    fmt::print(stderr, "error: this MPI has not the support of threads that is needed\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  const messages_benchmark kind;
  const auto start = [&](int /*workers*/) { return std::make_unique<runner_on_ranks>(who, make()); };
  int code = 0;
  if (rank == 0 || bench::needs_system(argc, argv, kind))
    code = bench::drive(argc, argv, kind, start, ranks_needed);
  MPI_Finalize();
  return code;
}

}  // namespace teff::messages
