#include "mpi/process_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace teff::detail {

namespace {

// Bytes for one call; the system takes a little less than 2 GiB.
constexpr std::size_t most = std::size_t{1} << 30;

// Returns the number of bytes that were read; below 0: none, and errno says why.
ssize_t read_some(pid_t of, std::uint64_t address, std::byte* to, std::size_t size) noexcept {
  const iovec here{to, size};
  const iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), size};
  return process_vm_readv(of, &here, 1, &there, 1, 0);
}

}  // namespace

void read_process_memory(pid_t of, std::uint64_t address, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto done = read_some(of, address, to.data(), std::min(to.size(), most));
    if (done <= 0)
      throw std::system_error(done < 0 ? errno : EFAULT, std::generic_category(),
                              "teff::mpi: the data of a large message can't be read");
    address += static_cast<std::uint64_t>(done);
    to = to.subspan(static_cast<std::size_t>(done));
  }
}

bool finds_in_process(pid_t of, std::uint64_t address, std::span<const std::byte> bytes) noexcept {
  std::array<std::byte, 64> found{};
  const auto size = std::min(bytes.size(), found.size());
  return read_some(of, address, found.data(), size) == static_cast<ssize_t>(size) &&
         std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size), found.begin());
}

}  // namespace teff::detail
