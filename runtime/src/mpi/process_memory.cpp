#include "mpi/process_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

namespace teff::detail {

namespace {

// Bytes for one call; the system takes a little less than 2 GiB.
constexpr std::size_t most = std::size_t{1} << 30;

// Maps the file. The memory's end closes `closed_with_it`, unless that is below 0.
std::shared_ptr<std::byte> mapped(int file, std::size_t size, int closed_with_it) {
  // All pages are mapped now, so that a waiting thread never waits for one.
  void* const at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  if (at == MAP_FAILED) {
    if (closed_with_it >= 0) close(closed_with_it);
    return nullptr;
  }
  return {static_cast<std::byte*>(at), [size, closed_with_it](std::byte* memory) {
            munmap(memory, size);
            if (closed_with_it >= 0) close(closed_with_it);
          }};
}

}  // namespace

void read_process_memory(pid_t of, std::uint64_t address, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto size = std::min(to.size(), most);
    const iovec own{to.data(), size};
    const iovec other{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), size};
    const auto done = process_vm_readv(of, &own, 1, &other, 1, 0);
    if (done <= 0)
      throw std::system_error(done < 0 ? errno : EFAULT, std::generic_category(),
                              "teff::mpi: the data of a large message can't be read");
    address += static_cast<std::uint64_t>(done);
    to = to.subspan(static_cast<std::size_t>(done));
  }
}

std::shared_ptr<std::byte> make_shared_pages(std::size_t size, memory_name& name) {
  const int file = memfd_create("teff", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  if (ftruncate(file, static_cast<off_t>(size)) != 0) {
    close(file);
    return nullptr;
  }
  name = {static_cast<std::uint64_t>(getpid()), static_cast<std::uint64_t>(file), size};
  return mapped(file, size, file);
}

std::shared_ptr<std::byte> map_shared_pages(const memory_name& name) {
  const auto path = "/proc/" + std::to_string(name.owner) + "/fd/" + std::to_string(name.number);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  struct stat found{};
  const bool is_it = fstat(file, &found) == 0 && static_cast<std::uint64_t>(found.st_size) == name.size;
  auto memory = is_it ? mapped(file, name.size, -1) : nullptr;
  close(file);
  return memory;
}

}  // namespace teff::detail
