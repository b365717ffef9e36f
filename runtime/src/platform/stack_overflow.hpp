// One line on stderr when a thread of ours overflows its stack, which is a bare SIGSEGV otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

namespace teff::detail {

// While it lives, the line is written if the calling thread, on which it is made and destroyed, overflows its
// stack; then the process ends by SIGSEGV, as without it.
//
// The first one of a process installs a handler of SIGSEGV, if the program has left that at its default. Any
// other fault ends the process as before. Nothing is done under a sanitizer, which has handlers of its own.
//
// Only threads of ours have one. The handler needs a stack of its own, which is a system call to set: a guest
// (scheduler/guests.md) would make two in each call, or keep ours when it goes on with what is none of our
// business.
class stack_overflow_report {
 public:
  // "teff: <owner> has used up its stack of ... bytes, ...; <way_out>".
  stack_overflow_report(const char* owner, const char* way_out) noexcept;
  ~stack_overflow_report();
  stack_overflow_report(const stack_overflow_report&) = delete;
  stack_overflow_report& operator=(const stack_overflow_report&) = delete;

  // Within the handler of a signal: writes the line if `fault` lies just below this stack.
  void write_if_overflowed(std::uintptr_t fault) const noexcept;

 private:
  void find_guard() noexcept;
  void set_alternate_stack() noexcept;

  std::uintptr_t guard_begin_ = 0;  // what faults when the stack overflows
  std::uintptr_t guard_end_ = 0;
  std::size_t stack_size_ = 0;
  void* alternate_ = nullptr;  // the handler's stack, and a page below it that faults
  std::size_t alternate_size_ = 0;
  char line_[256] = {};
  std::size_t length_ = 0;
};

}  // namespace teff::detail
