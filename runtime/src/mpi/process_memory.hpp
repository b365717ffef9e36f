// Reads the memory of other processes of this machine, where the system permits it. The reader makes the only
// copy, and the other process does nothing (src/message/large.md).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace teff::detail {

// Copies bytes from this address in the process. Throws std::system_error with the system's reason.
void read_process_memory(pid_t of, std::uint64_t address, std::span<std::byte> to);

}  // namespace teff::detail
