// The process's file of accounts (README.md): opened when a first thread needs a block, grown by blocks,
// mapped shared. What a thread writes there is in the file however the process ends. No file descriptor stays
// open.
#pragma once

#include <cstddef>
#include <cstdint>

#include "accounts.hpp"

namespace teff::collect {

// Holds the lock of all that grows: the file, its modules, the list of seats.
class growing {
 public:
  growing();
  ~growing();
  growing(const growing&) = delete;
  growing& operator=(const growing&) = delete;
};

// Callers of these three hold `growing`. open_file() says whether accounts are kept: not if TEFF_COLLECT
// names no folder, or one where no file can be made. take_block() gives null if the file can't grow.
bool open_file();
block* take_block();
std::uint32_t module_of(const void* address);  // index of header::modules

header* head();                               // null before open_file()
module describe_module(const void* address);  // without an address: "no module"
void note_clock();                            // a pair of ticks and nanoseconds, once a millisecond at most
void forget_file();                           // in a child of fork: it is the parent's

// Zeroed memory of the process alone, never given back. A program's own malloc may use OpenMP.
void* pages(std::size_t size);

}  // namespace teff::collect
