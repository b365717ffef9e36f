// The process's file of accounts (README.md: the file): opened when a first thread needs a block, grown by blocks, mapped shared. What
// a thread writes there is in the file however the process ends. No file descriptor stays open.
#pragma once

#include <cstddef>
#include <cstdint>

#include "accounts.hpp"

namespace teff::collect {

// Whether accounts are kept. The first call opens the file; false if TEFF_COLLECT names no folder, or the file can't be made.
// Callers hold `growing`.
bool open_file();

// Null if the file can't grow. Callers hold `growing`.
block* take_block();

// The file's header; null before open_file().
header* head();

// Which of the header's modules the address lies in. Callers hold `growing`.
std::uint32_t module_of(const void* address);

// Notes a pair of ticks and nanoseconds, once a millisecond at most.
void note_clock();

// Zeroed memory of the process alone, never given back: a program may have replaced malloc, and its malloc may use OpenMP.
void* pages(std::size_t size);

// In a child of fork: the file and its blocks are the parent's.
void forget_file();

// The lock of all that grows: the file, the list of seats, the modules.
class growing {
 public:
  growing();
  ~growing();
  growing(const growing&) = delete;
  growing& operator=(const growing&) = delete;
};

} // namespace teff::collect
