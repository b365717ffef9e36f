#include "file.hpp"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "clock.hpp"

namespace teff::collect {

constinit bool reads_tsc = false;

namespace {

constexpr std::size_t step = sizeof(header);  // the file grows by as much: whole pages on every machine

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
bool prepared, tried;  // tried: to open this process's file
moment loaded;         // the library
std::uint64_t started;
header* file;
std::size_t size_of_file, segments;
block *next_block, *end_of_blocks;
std::array<char, PATH_MAX> folder, path;

constexpr std::array<const char*, static_cast<std::size_t>(state::count)> states{
    "absent",    "serial",        "body",           "counted",     "creation", "dispatch",
    "imbalance", "task_not_made", "task_not_begun", "dependences", "message",  "lock",
    "runtime",   "start",         "wait",           "displaced"};
constexpr std::array<const char*, static_cast<std::size_t>(kind::count)> kinds{
    "others",    "region",   "share",         "chunk",          "section",    "single", "task",
    "dependent", "taskloop", "between_waits", "point_to_point", "collective", "sample"};

template <std::size_t N>
void copy_text(std::array<char, N>& to, const char* from) {
  std::strncpy(to.data(), from, N - 1);
}

// Grows a file from `offset` on, and reserves its space. A program that writes to a mapped page without space
// on the disk is ended by SIGBUS. A program that grows a file beyond RLIMIT_FSIZE is ended by SIGXFSZ.
// Without room for the header, the empty file tells that there were accounts.
void* grow(const char* name, std::size_t offset, std::size_t size) {
  const int flags = O_RDWR | O_CLOEXEC | (offset == 0 ? O_CREAT | O_EXCL : 0);
  int cancelled = 0;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);  // with the lock held
  const int descriptor = open(name, flags, 0666);
  const auto from = static_cast<off_t>(offset);
  rlimit limit{};
  void* memory = MAP_FAILED;
  if (descriptor >= 0 && getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= offset + size &&
      posix_fallocate(descriptor, from, static_cast<off_t>(size)) == 0) {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, from);
  }
  if (descriptor >= 0) close(descriptor);
  pthread_setcancelstate(cancelled, nullptr);
  return memory == MAP_FAILED ? nullptr : memory;
}

void* grow_accounts() {
  void* memory = grow(path.data(), size_of_file, step);
  if (memory != nullptr) size_of_file += step;
  return memory;
}

// As the starters of Open MPI, of MPICH and its relatives, of all with PMIx, and Slurm tell it.
std::uint32_t rank_of_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return 1 + static_cast<std::uint32_t>(std::atoi(rank));
  }
  return 0;
}

moment moment_now() {
  const auto before = ticks();
  const auto now = nanoseconds();
  return {before + (ticks() - before) / 2, now};
}

void write_header(header& to) {
  std::memcpy(to.magic.data(), "teffacct", 8);
  to.version = version;
  cpu_set_t processors;
  if (sched_getaffinity(0, sizeof processors, &processors) == 0) {
    to.processors = static_cast<std::uint32_t>(CPU_COUNT(&processors));
  }
  to.process = static_cast<std::uint32_t>(getpid());
  to.parent = static_cast<std::uint32_t>(getppid());
  to.clock_reads_tsc = reads_tsc;
  to.started = started;
  to.real_time = nanoseconds(CLOCK_REALTIME);
  to.first = loaded;
  to.last = moment_now();
  for (std::size_t i = 0; i < states.size(); ++i) copy_text(to.states[i], states[i]);
  for (std::size_t i = 0; i < kinds.size(); ++i) copy_text(to.kinds[i], kinds[i]);
  to.rank = rank_of_process();
}

// Runs when the library is loaded, or when a library that is loaded before it begins a region.
void prepare() {
  if (prepared) return;
  prepared = true;
  reads_tsc = counter_is_steady();
  loaded = moment_now();
  started = loaded.ticks;
  // A program may clear its environment before its first region.
  const char* asked = std::getenv("TEFF_COLLECT");
  if (asked == nullptr || realpath(asked, folder.data()) == nullptr) folder[0] = '\0';
  if (const char* number = std::getenv("TEFF_SEGMENTS")) segments = std::strtoul(number, nullptr, 10);
}

// Fills in `argument`, a module whose `begin` is an address, if the address lies in this module.
int look_at_module(dl_phdr_info* info, std::size_t, void* argument) {
  auto& wanted = *static_cast<module*>(argument);
  module found{info->dlpi_addr, 0, {}};
  bool here = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const auto begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    if (segment.p_type != PT_LOAD) continue;
    here = here || (begin <= wanted.begin && wanted.begin < end);
    found.end = std::max<std::uint64_t>(found.end, end);
  }
  if (!here) return 0;
  copy_text(found.path, info->dlpi_name);
  if (found.path[0] == '\0' && readlink("/proc/self/exe", found.path.data(), found.path.size() - 1) < 0)
    found.path[0] = '?';
  wanted = found;
  return 1;
}

}  // namespace

growing::growing() : errno_(errno) {
  pthread_mutex_lock(&lock);
}
growing::~growing() {
  pthread_mutex_unlock(&lock);
  errno = errno_;
}

header* head() {
  return file;
}

bool open_file() {
  if (tried) return file != nullptr;
  tried = true;
  prepare();
  if (folder[0] == '\0') return false;
  const int length = std::snprintf(path.data(), path.size(), "%s/%d-%llu.accounts", folder.data(), getpid(),
                                   static_cast<unsigned long long>(nanoseconds(CLOCK_REALTIME)));
  if (length < 0 || static_cast<std::size_t>(length) >= path.size()) return false;
  size_of_file = 0;
  file = static_cast<header*>(grow_accounts());
  if (file != nullptr) write_header(*file);
  return file != nullptr;
}

block* take_block() {
  if (next_block == end_of_blocks) {
    next_block = static_cast<block*>(grow_accounts());
    end_of_blocks = next_block == nullptr ? nullptr : next_block + step / sizeof(block);
    if (next_block == nullptr) return nullptr;
  }
  return next_block++;
}

std::uint32_t module_of(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::uint32_t index = 0;
  for (; index < file->modules_used; ++index) {
    const module& known = file->modules[index];
    if (known.begin <= wanted && wanted < known.end) return index;
  }
  if (index == file->modules.size()) return index - 1;
  const bool is_last = index + 1 == file->modules.size();
  file->modules[index] =
      is_last ? module{0, ~std::uint64_t{0}, {"further modules"}} : describe_module(address);
  return file->modules_used++;
}

std::uint32_t find_module(const void* address) {
  const growing held;
  return file == nullptr ? 0 : module_of(address);
}

module describe_module(const void* address) {
  module found{reinterpret_cast<std::uint64_t>(address), 0, {}};
  if (dl_iterate_phdr(look_at_module, &found) == 0) {  // compiled at run time, or no address
    constexpr std::uint64_t area = 1 << 20;
    found.begin &= ~(area - 1);
    found.end = found.begin + area;
    copy_text(found.path, "no module");
  }
  return found;
}

std::span<segment> open_segments(std::uint32_t seat) {
  static std::array<char, PATH_MAX + 32> name;  // the program's thread may have a small stack
  std::snprintf(name.data(), name.size(), "%s.%u.segments", path.data(), seat);
  void* file_of_seat = segments == 0 ? nullptr : grow(name.data(), 0, segments * sizeof(segment));
  return {static_cast<segment*>(file_of_seat), file_of_seat == nullptr ? 0 : segments};
}

void note_clock() {
  constexpr std::uint64_t seldom = 1 << 21;  // ticks: a millisecond at 2 GHz
  if (file == nullptr || ticks() - file->last.ticks < seldom || pthread_mutex_trylock(&lock) != 0) return;
  file->last = moment_now();
  pthread_mutex_unlock(&lock);
}

bool read_text(int folder, const char* name, std::span<char> text) {
  const int program_errno = errno;
  const long from = syscall(SYS_openat, folder, name, O_RDONLY | O_CLOEXEC);
  const bool found = from >= 0 && syscall(SYS_read, from, text.data(), text.size() - 1) > 0;
  if (from >= 0) syscall(SYS_close, from);
  errno = program_errno;
  return found;
}

void* pages(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

// In a child of fork: the file is the parent's.
static void begin_in_child() {
  file = nullptr;
  next_block = end_of_blocks = nullptr;
  tried = false;
  started = ticks();
  pthread_mutex_unlock(&lock);
}

[[gnu::constructor]] static void on_load() {
  prepare();
  pthread_atfork([] { pthread_mutex_lock(&lock); }, [] { pthread_mutex_unlock(&lock); }, begin_in_child);
}
[[gnu::destructor]] static void on_exit() {
  if (file == nullptr) return;
  file->last = moment_now();
  file->ended = file->last.ticks;
}

}  // namespace teff::collect
