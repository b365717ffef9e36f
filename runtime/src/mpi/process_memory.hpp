// Memory of other processes of this machine, where the system permits it: reads of it, and memory that
// processes share.
#pragma once

#include <teff/transport.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace teff::detail {

// Copies bytes from this address in the process. The reader makes the only copy, and the other process does
// nothing (src/message/large.md). Throws std::system_error with the system's reason.
void read_process_memory(pid_t of, std::uint64_t address, std::span<std::byte> to);

// Makes memory to share, all zero. Other processes find it by this process and the number of its file here.
// Null: the system gives none.
[[nodiscard]] std::shared_ptr<std::byte> make_shared_pages(std::size_t size, memory_name& name);
// Maps memory of another process. Null: the system does not let this process have it, or it is gone.
[[nodiscard]] std::shared_ptr<std::byte> map_shared_pages(const memory_name& name);

}  // namespace teff::detail
