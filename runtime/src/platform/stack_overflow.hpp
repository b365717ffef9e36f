// One line on stderr when a stack of ours overflows, which is a bare SIGSEGV otherwise.
//
// The first line or report of a process installs a handler of SIGSEGV, if the program has left that at its
// default. Any other fault ends the process as before. The library gives the handler back when it is
// unloaded. Under a sanitizer, which has its handlers, nothing is done.
#pragma once

#include "platform/guarded_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace teff::detail {

// The line for one stack: "teff: <owner> has used up its stack of ... bytes, ...; <way_out>".
class stack_overflow_line {
 public:
  // Of the calling thread's own stack.
  stack_overflow_line(const char* owner, const char* way_out) noexcept;
  // Of a stack in this memory.
  stack_overflow_line(const guarded_memory& stack, const char* owner, const char* way_out) noexcept;

  // Within the handler of a signal: writes the line if `fault` lies just below this stack.
  void write_if_overflowed(std::uintptr_t fault) const noexcept;

 private:
  void say(const char* owner, const char* way_out) noexcept;

  std::uintptr_t guard_begin_ = 0;  // what faults when the stack overflows
  std::uintptr_t guard_end_ = 0;
  std::size_t stack_size_ = 0;
  char line_[256] = {};
  std::size_t length_ = 0;
};

// While it lives, the calling thread, on which it is made and destroyed, is on this line's stack.
class watched_stack {
 public:
  explicit watched_stack(const stack_overflow_line&) noexcept;
  ~watched_stack();
  watched_stack(const watched_stack&) = delete;
  watched_stack& operator=(const watched_stack&) = delete;

 private:
  const stack_overflow_line* const outer_;
};

// A stack for the calling thread's handlers, without which it can say nothing; none if it has one already.
// Made and destroyed on that thread.
class handler_stack {
 public:
  handler_stack() noexcept;
  ~handler_stack();

 private:
  std::optional<guarded_memory> memory_;
};

// All of that, for a thread of ours on its own stack.
class stack_overflow_report {
 public:
  stack_overflow_report(const char* owner, const char* way_out) noexcept : line_(owner, way_out) {}

 private:
  const stack_overflow_line line_;
  const handler_stack handlers_;
  const watched_stack watched_{line_};
};

}  // namespace teff::detail
