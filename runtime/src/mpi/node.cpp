#include "mpi/node.hpp"

#include <teff/detail/exceptions.hpp>

#include "mpi/process_memory.hpp"
#include "platform/host_name.hpp"

#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <span>
#include <system_error>
#include <thread>
#include <utility>

namespace teff::detail {

namespace {

// Lines of each ring: 256 KiB, or fewer so that all rings of a node take 32 MiB at most; but never fewer than
// a ring needs.
std::size_t lines_of_ring(std::size_t ranks) noexcept {
  constexpr std::size_t most = 4096;
  constexpr std::size_t least = 64;
  constexpr std::size_t of_node = (std::size_t{32} << 20) / 64;
  return std::clamp(std::bit_floor(std::max(of_node / (ranks * ranks), std::size_t{1})), least, most);
}

// The segment of a rank in the shared memory: rings, the last words, and copies of data.
struct segment_layout {
  static constexpr std::size_t alignment = 64;

  segment_layout(std::size_t ranks, std::size_t size_of_words)
      : lines(lines_of_ring(ranks)),
        before_words(rings::segment_bytes(ranks, lines)),
        before_copies(before_words + alignment * ((size_of_words + alignment - 1) / alignment)),
        bytes(before_copies + shared_copies::segment_bytes(ranks) + alignment) {}

  std::size_t lines;  // of a ring
  std::size_t before_words;
  std::size_t before_copies;
  std::size_t bytes;
};

// A file that can be read when the process has ended; below 0 if the system gives none. Older C libraries
// have no function for it.
int file_of_process(pid_t process) noexcept {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#else
  static_cast<void>(process);
  return -1;
#endif
}

}  // namespace

node::node(MPI_Comm all, bool reads, std::chrono::milliseconds silence) : all_(all) {
  int world = 0;
  int size = 0;
  int own = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(all_, &size);
  MPI_Comm_rank(all_, &own);
  ranks_.resize(static_cast<std::size_t>(size));
  MPI_Allgather(&world, 1, MPI_INT, ranks_.data(), 1, MPI_INT, all_);
  const auto ranks = ranks_.size();
  const segment_layout layout(ranks, sizeof(last_words));
  MPI_Info how = MPI_INFO_NULL;
  MPI_Info_create(&how);
  MPI_Info_set(how, "alloc_shared_noncontig", "true");  // each rank's segment may be near its core
  void* mine = nullptr;
  MPI_Win_allocate_shared(static_cast<MPI_Aint>(layout.bytes), 1, how, all_, &mine, &memory_);
  MPI_Info_free(&how);
  std::vector<std::byte*> segments;
  for (int each = 0; each < size; ++each) {
    void* at = nullptr;
    MPI_Aint of = 0;
    int unit = 0;
    MPI_Win_shared_query(memory_, each, &of, &unit, &at);
    // Processes map whole pages, so this is the same place in each process.
    constexpr auto alignment = segment_layout::alignment;
    const auto lacks = (alignment - reinterpret_cast<std::uintptr_t>(at) % alignment) % alignment;
    segments.push_back(static_cast<std::byte*>(at) + lacks);
  }
  rings::prepare(segments[static_cast<std::size_t>(own)], ranks, layout.lines);
  std::vector<std::byte*> of_copies;
  for (auto* const each : segments) of_copies.push_back(each + layout.before_copies);
  shared_copies::prepare(of_copies[static_cast<std::size_t>(own)], ranks);
  auto* const words = segments.front() + layout.before_words;  // in the segment of rank 0, for all ranks
  if (own == 0) ::new (words) last_words;
  MPI_Barrier(all_);
  last_words_ = std::launder(reinterpret_cast<last_words*>(words));
  rings_.emplace(std::move(segments), static_cast<std::size_t>(own), layout.lines);
  copies_.emplace(std::move(of_copies), static_cast<std::size_t>(own));
  find_processes(static_cast<std::size_t>(own), reads);
  begin_watch(static_cast<std::size_t>(own), silence);
}

bool node::finds_room(std::size_t ranks) {
  const auto whole = ranks * (segment_layout(ranks, sizeof(last_words)).bytes + 4096);
  struct statvfs found{};
  if (statvfs("/dev/shm", &found) != 0) return true;
  const auto room = std::uint64_t{found.f_bavail} * found.f_bsize;
  if (room >= whole) return true;
  std::fprintf(
      stderr,
      "teff::mpi: /dev/shm of %s has %zu MiB of room, and the rings between its %zu ranks take %zu: the job "
      "uses MPI's messages instead. Make it larger, or set mpi_options::rings to false\n",
      host_name().c_str(), static_cast<std::size_t>(room >> 20), ranks, (whole >> 20) + 1);
  return false;
}

// No rank ends before all have come to MPI_Win_free. So none is watched any more when it ends.
node::~node() {
  const std::uint64_t one = 1;
  while (write(watched_.back().fd, &one, sizeof one) < 0 && errno == EINTR) {
  }
  watcher_.join();
  close(watched_.back().fd);
  links_.reset();
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    if (watched_[i].fd >= 0) close(watched_[i].fd);
  }
  rings_.reset();
  MPI_Win_free(&memory_);
  MPI_Comm_free(&all_);
}

// Containers may number processes each in its own way, and a number then means nothing to others. They may
// also forbid reading memory. So each rank tries to read a value whose address its neighbour has sent it.
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
  std::uint64_t found = 0;
  const auto read = [&] {
    read_process_memory(static_cast<pid_t>(next.id), next.address,
                        std::as_writable_bytes(std::span(&found, 1)));
  };
  if (known && reads) catch_all(read, [] {});  // the system may forbid it
  int can = known && reads && found == next.value ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &can, 1, MPI_INT, MPI_MIN, all_);
  reads_ = can != 0;
  sees_processes_ = known;
}

// A rank that was killed, or that ran out of memory, sends nothing any more. MPI does not tell of it if the
// user had the job go on without that rank. The same holds for a node that cannot be reached.
void node::begin_watch(std::size_t own, std::chrono::milliseconds silence) {
  MPI_Comm firsts = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, own == 0 ? 0 : MPI_UNDEFINED, 0, &firsts);
  if (firsts != MPI_COMM_NULL) {
    int nodes = 0;
    MPI_Comm_size(firsts, &nodes);
    if (nodes > 1) links_.emplace(firsts, silence);
    MPI_Comm_free(&firsts);
  }
  for (std::size_t i = 0; i < processes_.size(); ++i)
    watched_.push_back({sees_processes_ && i != own ? file_of_process(processes_[i]) : -1, POLLIN, 0});
  for (const int file : links_ ? links_->files() : std::array{-1, -1}) watched_.push_back({file, POLLIN, 0});
  watched_.push_back({eventfd(0, EFD_CLOEXEC), POLLIN, 0});
  if (watched_.back().fd < 0) throw std::system_error(errno, std::generic_category(), "teff::mpi: eventfd");
  watcher_.start([this] { watch(); });
}

void node::watch() {
  for (;;) {
    if (poll(watched_.data(), watched_.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (watched_.back().revents != 0) return;
    for (std::size_t i = 0; i + 1 < watched_.size(); ++i) {
      if (watched_[i].revents == 0) continue;
      if (i < processes_.size())
        end("rank " + std::to_string(ranks_[i]) + " (process " + std::to_string(processes_[i]) + " on " +
            host_name() + ") has died");
      std::string why;
      const auto news = links_->hear(i - processes_.size(), why);
      if (news == node_links::news::end) end(why);
      if (news == node_links::news::goodbye) watched_[i].fd = -1;
    }
  }
}

// Ends this process, after it has told the other ranks of the node and the other nodes why.
void node::end(const std::string& why) noexcept {
  auto& words = *last_words_;
  std::uint32_t state = last_words::none;
  // Acquire and release: the text. The process that writes it may die meanwhile.
  if (words.state.compare_exchange_strong(state, last_words::being_written, std::memory_order_acq_rel)) {
    why.copy(words.text.data(), words.text.size() - 1);
    words.state.store(last_words::written, std::memory_order_release);
  }
  for (int i = 0; i < 1000 && words.state.load(std::memory_order_acquire) != last_words::written; ++i)
    std::this_thread::yield();
  dprintf(STDERR_FILENO, "teff::mpi: %s: its job ends\n", words.text.data());
  if (links_) links_->tell(words.text.data());
  std::_Exit(EXIT_FAILURE);
}

}  // namespace teff::detail
