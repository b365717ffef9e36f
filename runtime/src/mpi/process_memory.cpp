#include "mpi/process_memory.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace teff::detail {

namespace {

// Bytes for one call; the system takes a little less than 2 GiB.
constexpr std::size_t most = std::size_t{1} << 30;

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

}  // namespace teff::detail
