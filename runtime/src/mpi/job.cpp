#include "mpi/job.hpp"

#include <teff/detail/trace/recording.hpp>
#include <teff/error.hpp>

#include <sched.h>

#include <array>
#include <climits>
#include <random>
#include <string>
#include <thread>

namespace teff::detail {

namespace {

// The cores that ranks of this communicator may use.
unsigned cores_of(MPI_Comm all) noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, all);
  // If the machine has more cores than a set can hold, there are enough.
  const auto known = static_cast<unsigned>(CPU_COUNT(&cores));
  return known != 0 ? known : UINT_MAX;
}

}  // namespace

mpi_job::mpi_job(int& argc, char**& argv, const mpi_options& how) {
  if (how.silence != decltype(how.silence){} && how.silence < mpi_options{}.silence)
    throw invalid_option("teff::mpi: a silence of " + std::to_string(how.silence.count()) +
                         " s; it must be 0 (for ever) or at least 4");
  int initialized = 0;
  int finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) throw misuse("teff::mpi: MPI was finalised");
  int level = 0;
  if (initialized != 0) {
    MPI_Query_thread(&level);
  } else {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    ours_ = true;
  }
  if (level < MPI_THREAD_SERIALIZED)
    throw misuse(
        "teff::mpi: MPI is not initialised at MPI_THREAD_SERIALIZED (MPI_Init_thread), nor at a higher "
        "level");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm same_node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &same_node);
  int near_ranks = 1;
  int number = 0;
  MPI_Comm_size(same_node, &near_ranks);
  MPI_Comm_rank(same_node, &number);
  ranks_of_node = static_cast<unsigned>(near_ranks);
  cores_of_node = cores_of(same_node);
  std::random_device random;
  std::uint64_t name = std::uint64_t{random()} << 32 | random();
  MPI_Bcast(&name, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  belong_to_job({rank, ranks, name, near_ranks == ranks});
  tasks.emplace();
  on_node.resize(static_cast<std::size_t>(ranks));
  // All ranks use rings, and all ranks read memory, or none does.
  const bool rings = how.rings && (number != 0 || node::finds_room(ranks_of_node));
  std::array<int, 2> with{rings ? 1 : 0, how.reads_memory ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, with.data(), 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (with[0] == 0) {
    MPI_Comm_free(&same_node);
    return;
  }
  near.emplace(same_node, with[1] != 0, how.silence);
  for (std::size_t i = 0; i < near->ranks().size(); ++i)
    on_node[static_cast<std::size_t>(near->ranks()[i])] = i;
}

mpi_job::~mpi_job() {
  near.reset();
  tasks.reset();
  if (ours_) MPI_Finalize();
}

}  // namespace teff::detail
