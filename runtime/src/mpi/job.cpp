#include "mpi/job.hpp"

#include <teff/detail/trace/recording.hpp>
#include <teff/error.hpp>

#include <sched.h>

#include <array>
#include <climits>
#include <random>
#include <string>
#include <thread>

namespace teff {

mpi::job::job(int& argc, char**& argv, const mpi_options& how) {
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
  look_around();
  std::random_device random;
  std::uint64_t number = std::uint64_t{random()} << 32 | random();
  MPI_Bcast(&number, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  detail::belong_to_job({rank, ranks, number, static_cast<int>(ranks_here) == ranks});
  MPI_Type_contiguous(static_cast<int>(detail::block), MPI_BYTE, &blocks);
  MPI_Type_commit(&blocks);
  tasks.emplace();
  on_node.resize(static_cast<std::size_t>(ranks));
  // All ranks use rings, and all ranks read memory, or none does.
  const bool rings = how.rings && (!is_first_here || detail::node::finds_room(ranks_here));
  std::array<int, 2> with{rings ? 1 : 0, how.reads_memory ? 1 : 0};
  MPI_Allreduce(MPI_IN_PLACE, with.data(), 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (with[0] == 0) return;
  near.emplace(with[1] != 0, how.silence);
  for (std::size_t i = 0; i < near->ranks().size(); ++i)
    on_node[static_cast<std::size_t>(near->ranks()[i])] = i;
}

mpi::job::~job() {
  near.reset();
  tasks.reset();
  MPI_Type_free(&blocks);
  if (ours_) MPI_Finalize();
}

void mpi::job::complete(MPI_Request& request) {
  for (int done = 0; done == 0; std::this_thread::yield()) {
    const std::lock_guard lock(mutex);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

void mpi::job::look_around() noexcept {
  MPI_Comm here = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &here);
  int size = 1;
  int own = 0;
  MPI_Comm_size(here, &size);
  MPI_Comm_rank(here, &own);
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof cores, &cores);
  MPI_Allreduce(MPI_IN_PLACE, &cores, sizeof cores, MPI_BYTE, MPI_BOR, here);
  MPI_Comm_free(&here);
  ranks_here = static_cast<unsigned>(size);
  is_first_here = own == 0;
  // If the machine has more cores than a set can hold, there are enough.
  const auto known = static_cast<unsigned>(CPU_COUNT(&cores));
  cores_here = known != 0 ? known : UINT_MAX;
}

}  // namespace teff
