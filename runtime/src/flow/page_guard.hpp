// Pages that the running task of a checked flow does not name: an access to them is noted, and goes on.
#pragma once

#include "flow/flow_checker.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <span>
#include <vector>

namespace teff::detail {

// Between begin() and end(), the whole pages of some ranges are without access. A handler of SIGSEGV notes
// the first access of any thread, and gives access to the pages that it meets. While a guard lives, the guard
// made before is off. One thread of the process has guards at a time. The guards of other threads do nothing.
class page_guard {
 public:
  // The program has written to the ranges, so their pages are readable and writable. Throws std::bad_alloc.
  explicit page_guard(std::span<const byte_range> ranges);
  ~page_guard();
  page_guard(const page_guard&) = delete;
  page_guard& operator=(const page_guard&) = delete;

  void begin() const noexcept;
  void end() const noexcept;
  // The address of the first access; 0: there was none.
  [[nodiscard]] std::uintptr_t touched() const noexcept { return touched_.load(); }

 private:
  static void on_fault(int signal, siginfo_t* info, void* context) noexcept;
  void set_access(int access) const noexcept;

  static std::atomic<page_guard*> innermost;

  const std::vector<byte_range> pages_;
  std::atomic<std::uintptr_t> touched_{0};
  page_guard* outer_ = nullptr;
  bool is_on_ = false;
};

}  // namespace teff::detail
