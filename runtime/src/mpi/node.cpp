#include "mpi/node.hpp"

#include "mpi/process_memory.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>
#include <utility>

namespace teff::detail {

namespace {

// Lines of each ring: 256 KiB, but all rings of a node use 32 MiB at most, or the least of which a ring is
// of use.
std::size_t lines_of_ring(std::size_t ranks) noexcept {
  constexpr std::size_t most = 4096;
  constexpr std::size_t least = 64;
  constexpr std::size_t of_node = (std::size_t{32} << 20) / 64;
  return std::clamp(std::bit_floor(std::max(of_node / (ranks * ranks), std::size_t{1})), least, most);
}

}  // namespace

node::node(bool reads) {
  int world = 0;
  int size = 0;
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world, MPI_INFO_NULL, &all_);
  MPI_Comm_size(all_, &size);
  MPI_Comm_rank(all_, &own);
  ranks_.resize(static_cast<std::size_t>(size));
  MPI_Allgather(&world, 1, MPI_INT, ranks_.data(), 1, MPI_INT, all_);
  const auto ranks = ranks_.size();
  const auto lines = lines_of_ring(ranks);
  constexpr std::size_t alignment = 64;
  const auto of_rings = rings::segment_bytes(ranks, lines);
  const auto bytes = of_rings + alignment + sizeof(first_death);
  MPI_Info how = MPI_INFO_NULL;
  MPI_Info_create(&how);
  MPI_Info_set(how, "alloc_shared_noncontig", "true");  // each rank's segment may be near its core
  void* mine = nullptr;
  MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, how, all_, &mine, &memory_);
  MPI_Info_free(&how);
  std::vector<std::byte*> segments;
  for (int each = 0; each < size; ++each) {
    void* at = nullptr;
    MPI_Aint of = 0;
    int unit = 0;
    MPI_Win_shared_query(memory_, each, &of, &unit, &at);
    // Pages are mapped whole: so this is the same place in each process.
    const auto lacks = (alignment - reinterpret_cast<std::uintptr_t>(at) % alignment) % alignment;
    segments.push_back(static_cast<std::byte*>(at) + lacks);
  }
  rings::prepare(segments[static_cast<std::size_t>(own)], ranks, lines);
  auto* const after_rings = segments.front() + of_rings;  // of rank 0, used by all
  if (own == 0) ::new (after_rings) first_death(0);
  MPI_Barrier(all_);
  first_death_ = std::launder(reinterpret_cast<first_death*>(after_rings));
  rings_.emplace(std::move(segments), static_cast<std::size_t>(own), lines);
  find_processes(static_cast<std::size_t>(own), reads);
}

// No rank ends before all have come to MPI_Win_free: so nobody watches any more then.
node::~node() {
  deaths_.reset();
  rings_.reset();
  MPI_Win_free(&memory_);
  MPI_Comm_free(&all_);
}

// Containers number processes in ways of their own: then a number means nothing to others. They may forbid
// to read memory: so each rank tries whether it finds what its neighbour has told it.
void node::find_processes(std::size_t own, bool reads) {
  struct process {
    std::uint64_t id;
    std::uint64_t numbering;
    std::uint64_t address;
    std::uint64_t value;
  };
  const auto id = static_cast<std::uint64_t>(getpid());
  const std::uint64_t value = id * 0x9e37'79b9'7f4a'7c15U ^ reinterpret_cast<std::uintptr_t>(&id);
  struct stat numbering{};
  if (stat("/proc/self/ns/pid", &numbering) != 0) numbering.st_ino = 0;
  const process mine{id, numbering.st_ino, reinterpret_cast<std::uintptr_t>(&value), value};
  std::vector<process> all(ranks_.size());
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, all_);
  for (const auto& each : all) processes_.push_back(static_cast<pid_t>(each.id));
  const bool known = std::ranges::all_of(
      all, [&](const process& each) { return each.numbering != 0 && each.numbering == mine.numbering; });
  const auto& next = all[(own + 1) % all.size()];
  int can = known && reads &&
                    finds_in_process(static_cast<pid_t>(next.id), next.address,
                                     std::as_bytes(std::span(&next.value, 1)))
                ? 1
                : 0;
  MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, all_);
  reads_ = can != 0;
  if (known) deaths_.emplace(processes_, [this](std::size_t who) { end_after(who); });
}

// A rank has died, by kill -9 or because it has run out of memory. What it was to send never comes, and MPI
// tells nobody if it has been told to go on without it. All others end, and name the one that died first.
void node::end_after(std::size_t who) noexcept {
  std::uint32_t first = 0;
  if (first_death_->compare_exchange_strong(first, static_cast<std::uint32_t>(who) + 1))
    first = static_cast<std::uint32_t>(who) + 1;
  const auto dead = static_cast<std::size_t>(first) - 1;
  dprintf(STDERR_FILENO, "teff::mpi: rank %d (process %d) has died: its job ends\n", ranks_[dead],
          static_cast<int>(processes_[dead]));
  std::_Exit(EXIT_FAILURE);
}

}  // namespace teff::detail
