// The process's file of accounts (README.md). It is opened when a first thread needs a block, grown by
// blocks, and mapped shared: however the process ends, the file has all accounts. No file descriptor stays
// open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "accounts.hpp"

namespace teff::collect {

// Holds the lock of all that grows: the file, its modules, the list of seats. The program's errno is as
// before.
class growing {
 public:
  growing();
  ~growing();
  growing(const growing&) = delete;
  growing& operator=(const growing&) = delete;

 private:
  int errno_;
};

// Callers of these four hold `growing`. open_file() says whether accounts are kept. They are if TEFF_COLLECT
// names a folder, and a file can be made there. take_block() gives null if the file can't grow.
bool open_file();
block* take_block();
std::uint32_t module_of(const void* address);          // index of header::modules
std::span<segment> open_segments(std::uint32_t seat);  // a file; empty if nobody asked, or without room

std::uint32_t find_module(const void* address);  // module_of(), with the lock; 0 without a file
header* head();                                  // null before open_file()
module describe_module(const void* address);     // may change errno; without an address: "no module"
void note_clock();  // a pair of ticks and nanoseconds, once a millisecond at most

// Reads the begin of a file into zeroed memory, up to its last byte; false if there is none. By system calls
// that are no points of cancellation, and that no sanitizer stands before.
bool read_text(int folder, const char* name, std::span<char> text);

// Zeroed memory of the process alone, never given back. A program's own malloc may use OpenMP. May change
// errno.
void* pages(std::size_t size);

}  // namespace teff::collect
