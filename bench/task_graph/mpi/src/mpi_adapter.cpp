#include "teff/graphs/mpi_adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "teff/bench/failure.hpp"

namespace teff::graphs {
namespace {

using namespace std::chrono_literals;

constexpr auto first_nap = 10us;
// Of a wait for a line of a batch. Nobody suspends a rank on another node meanwhile, and each nap's end
// disturbs.
constexpr auto longest_nap = 10ms;
constexpr int failed = 1;

/// "Open MPI 4.1.4" of "Open MPI v4.1.4, package: ...", "MPICH 4.0.2" of "MPICH Version:\t4.0.2\n...".
std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string full(text, static_cast<std::size_t>(length));
  const std::size_t digit = full.find_first_of("0123456789");
  if (digit == std::string::npos) return full;
  std::string name = full.substr(0, digit);
  for (const std::string_view filler :
       {"v", " ", "\t", ":", "Version", " "})  // as they may stand before the digits
    while (name.ends_with(filler)) name.resize(name.size() - filler.size());
  return name + " " + full.substr(digit, full.find_first_of(" ,\t\n", digit) - digit);
}

int rank_in(MPI_Comm all) {
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  return rank;
}

int ranks_of(MPI_Comm all) {
  int ranks = 0;
  MPI_Comm_size(all, &ranks);
  return ranks;
}

/// Waits in short sleeps that leave the core free: other programs are measured between two runs of a batch.
/// Outside the timed region only.
void wait_napping(MPI_Request request) {
  auto nap = std::chrono::microseconds(first_nap);
  int done = 0;
  while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0) {
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, std::chrono::microseconds(longest_nap));
  }
}

void broadcast_from(int root, std::string& text, MPI_Comm ranks) {
  MPI_Request request{};
  std::uint64_t bytes = text.size();
  MPI_Ibcast(&bytes, 1, MPI_UINT64_T, root, ranks, &request);
  wait_napping(request);
  text.resize(bytes);
  MPI_Bcast(text.data(), static_cast<int>(bytes), MPI_CHAR, root, ranks);
}

/// adapter::agree among these ranks.
std::string agree_among(std::string reason, MPI_Comm ranks) {
  const int all = ranks_of(ranks);
  int failing = reason.empty() ? all : rank_in(ranks);
  MPI_Allreduce(MPI_IN_PLACE, &failing, 1, MPI_INT, MPI_MIN, ranks);
  if (failing == all) return {};
  broadcast_from(failing, reason, ranks);
  return fmt::format("rank {}: {}", failing, reason);
}

/// Calls step(). Throws on all ranks where it throws on one: that one's own, elsewhere one that names it.
void call_together(const std::function<void()>& step, MPI_Comm ranks) {
  std::exception_ptr mine;
  std::string reason;
  try {
    step();
  } catch (const std::exception& failure) {
    mine = std::current_exception();
    reason = bench::reason_of(failure);
  }
  reason = agree_among(std::move(reason), ranks);
  if (mine) std::rethrow_exception(mine);
  if (!reason.empty()) throw std::runtime_error(reason);
}

/// An outcome's numbers as they are, then its error.
struct numbers {
  counters done;
  bench::noise seen;
  double elapsed_seconds;
};
static_assert(std::is_trivially_copyable_v<numbers>);

std::string pack(const outcome& from) {
  const numbers fixed{from.done, from.seen, from.elapsed_seconds};
  return std::string(reinterpret_cast<const char*>(&fixed), sizeof(fixed)) + from.error;
}

outcome unpack(const std::string& bytes) {
  numbers fixed;
  std::memcpy(&fixed, bytes.data(), sizeof(fixed));
  return {fixed.done, fixed.seen, fixed.elapsed_seconds, bytes.substr(sizeof(fixed))};
}

[[noreturn]] void end_job(const std::string& reason) {
  char host[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(host, &length);
  fmt::print(stderr, "error: rank {} of {} on {} {}\n", rank_in(MPI_COMM_WORLD), ranks_of(MPI_COMM_WORLD),
             host, reason);
  MPI_Abort(MPI_COMM_WORLD, failed);
  std::abort();  // MPI_Abort does not come back
}

/// TEFF_RANKS is the number that start_ranks asked for. A launcher that does not fit the library, as that of
/// Ubuntu 24.04's MPICH, starts many programs of one rank each. Each of them would measure alone.
void check_ranks() {
  const char* const asked = std::getenv("TEFF_RANKS");
  if (asked != nullptr && std::to_string(ranks_of(MPI_COMM_WORLD)) != asked)
    end_job(fmt::format("should be one of {}: {} and its launcher do not fit", asked, library_version()));
}

}  // namespace

mpi_adapter::mpi_adapter() : mpi_adapter(ranks_of(MPI_COMM_WORLD)) {}

mpi_adapter::mpi_adapter(int workers)
    : rank_(rank_in(MPI_COMM_WORLD)), ranks_(ranks_of(MPI_COMM_WORLD)), workers_(workers), seen_(ranks_) {
  MPI_Comm_dup(MPI_COMM_WORLD, &control_);
}

mpi_adapter::~mpi_adapter() {
  for (MPI_Comm each : communicators_) MPI_Comm_free(&each);
  MPI_Comm_free(&control_);
}

int mpi_adapter::local_workers() const {
  return (rank_ + 1) * workers_ / ranks_ - rank_ * workers_ / ranks_;
}

void mpi_adapter::broadcast(std::string& text) {
  broadcast_from(0, text, control_);
}

std::vector<outcome> mpi_adapter::gather(const outcome& mine) {
  const std::string packed = pack(mine);
  if (rank_ != 0) {
    MPI_Send(packed.data(), static_cast<int>(packed.size()), MPI_BYTE, 0, 0, control_);
    return {};
  }
  std::vector<outcome> all{mine};
  for (int from = 1; from < ranks_; ++from) {
    MPI_Status status;
    int bytes = 0;
    MPI_Probe(from, 0, control_, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::string received(static_cast<std::size_t>(bytes), '\0');
    MPI_Recv(received.data(), bytes, MPI_BYTE, from, 0, control_, MPI_STATUS_IGNORE);
    all.push_back(unpack(received));
  }
  return all;
}

void mpi_adapter::run(workload& work) {
  while (communicators_.size() < work.graphs()) {
    communicators_.emplace_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &communicators_.back());
  }
  std::string reason;
  try {
    prepare(work);
  } catch (const std::exception& failure) {
    reason = bench::reason_of(failure);
  }
  reason = agree(std::move(reason));
  if (!reason.empty()) throw std::runtime_error(reason);
  try {
    execute(work);
  } catch (const std::exception& failure) {
    give_up(bench::reason_of(failure));  // the others wait for its messages
  }
}

std::string mpi_adapter::agree(std::string reason) {
  return agree_among(std::move(reason), control_);
}

void mpi_adapter::together(const std::function<void()>& step) const {
  call_together(step, control_);
}

void mpi_adapter::give_up(const std::string& reason) {
  end_job(fmt::format("failed amid a run: {}", reason));
}

void mpi_adapter::start(workload& work) const {
  MPI_Barrier(control_);
  work.start();
}

void mpi_adapter::stop(workload& work) const {
  MPI_Barrier(control_);
  work.stop();
}

std::vector<rank_columns> mpi_adapter::make_columns(const workload& work) const {
  int* greatest_tag = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&greatest_tag), &found);
  std::vector<rank_columns> all;
  for (std::size_t i = 0; i < work.graphs(); ++i) {
    const task_graph& graph = work.graph(i);
    const partition blocks(graph.width, workers_, ranks_);
    for (int each = 0; each < ranks_; ++each)
      if (blocks.columns_of(each).size() > *greatest_tag)
        throw std::length_error(
            fmt::format("-width {} gives a rank more columns than this MPI has tags ({}); "
                        "start more ranks",
                        graph.width, *greatest_tag));
    if (graph.output_bytes > std::numeric_limits<int>::max())
      throw std::length_error(fmt::format("-output {} is more than a message of MPI holds ({} bytes)",
                                          graph.output_bytes, std::numeric_limits<int>::max()));
    all.emplace_back(work.table(i), blocks, rank_);
  }
  return all;
}

void mpi_adapter::saw_workers(int here) {
  MPI_Allreduce(&here, &seen_, 1, MPI_INT, MPI_SUM, control_);
}

bench::identity mpi_adapter::identify(std::string system, std::string variant,
                                      const std::string& release) const {
  return {.system = std::move(system),
          .variant = std::move(variant),
          .version = release.empty() ? library_version() : release + ", " + library_version(),
          .workers = seen_,
          .ranks = ranks_};
}

int drive_ranks(int argc, char** argv, int thread_level,
                const std::function<std::unique_ptr<adapter>(int workers)>& make) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, thread_level, &given);
  if (given < thread_level) end_job("has an MPI without the support of threads that this needs");
  check_ranks();
  const int rank = rank_in(MPI_COMM_WORLD);
  const auto make_on_all = [&](int workers) {
    std::unique_ptr<adapter> made;
    try {
      call_together([&] { made = make(workers); }, MPI_COMM_WORLD);
    } catch (const std::exception&) {
      if (rank == 0) throw;
      made.reset();
    }
    return made;
  };
  int code = 0;
  if (rank == 0 || needs_system(argc, argv)) code = drive(argc, argv, make_on_all);
  MPI_Finalize();
  return code;
}

}  // namespace teff::graphs
