// The memory of other processes of this machine, which this one may read where the system permits it: one
// copy, by the reader, and the other process does nothing (large.md, in src/message).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace teff::detail {

// Copies what lies at this address there. Throws std::system_error, with what the system says.
void read_process_memory(pid_t of, std::uint64_t address, std::span<std::byte> to);

// Whether these bytes lie there, and this process may read them.
[[nodiscard]] bool finds_in_process(pid_t of, std::uint64_t address,
                                    std::span<const std::byte> bytes) noexcept;

}  // namespace teff::detail
